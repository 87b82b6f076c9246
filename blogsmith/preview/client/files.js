// Files that changed and are neither pages nor style sheets. A picture is loaded anew where it stands; of anything
// else that the page uses, a script or a font, only a reload makes sure.

import { decoded } from "./page.js";

const PICTURES = "img, picture > source, video, audio, video > source, audio > source, input[type=image]";
const EMBEDDED = "object, embed, iframe";
const ADDRESSES = ["src", "srcset", "poster", "data"];

// Path → how often it changed. Browsers keep a picture under its address for as long as the page lives.
const changes = new Map();

// Paths of all files that this page has asked for.
const used = new Set();

new PerformanceObserver((list) => list.getEntries().forEach(({ name }) => used.add(pathOf(name)))).observe({
  type: "resource",
  buffered: true,
});

function pathOf(address) {
  if (!URL.canParse(address, document.baseURI)) return undefined;
  const url = new URL(address, document.baseURI);
  return url.origin === location.origin ? decoded(url.pathname) : undefined;
}

function renewed(address) {
  const count = changes.get(pathOf(address));
  if (!count) return address;
  const [, plain, fragment] = /^([^?#]*)[^#]*(.*)$/.exec(address);
  return `${plain}?live=${count}${fragment}`;
}

function renewedSet(set) {
  const one = (candidate) => candidate.trim().replace(/^\S+/, renewed);
  return set.split(/,\s+/).map(one).join(", ");
}

function freshenOne(element) {
  for (const name of ADDRESSES) {
    const address = element.getAttribute(name);
    if (!address) continue;
    const now = name === "srcset" ? renewedSet(address) : renewed(address);
    if (now !== address) element.setAttribute(name, now);
  }
}

// HTML from the server has the plain addresses of pictures that changed since.
export function freshen(root) {
  if (!changes.size) return;
  const selector = `${PICTURES}, ${EMBEDDED}`;
  if (root.matches(selector)) freshenOne(root);
  root.querySelectorAll(selector).forEach(freshenOne);
}

function isPicture(path) {
  const names = (element) => ADDRESSES.map((name) => element.getAttribute(name) ?? "").join(", ");
  const isNamed = (element) => names(element).split(/[\s,]+/).some((address) => pathOf(address) === path);
  return [...document.querySelectorAll(`${PICTURES}, ${EMBEDDED}`)].some(isNamed);
}

// Whether the page has to be loaded again for these files.
export function renewFiles(paths) {
  let needsReload = false;
  for (const path of paths.map(decoded)) {
    const isShown = isPicture(path);
    if (isShown) changes.set(path, (changes.get(path) ?? 0) + 1);
    else needsReload ||= used.has(path);
  }
  freshen(document.body);
  return needsReload;
}
