// A card with what a reference leads to, on hover and keyboard focus. A click follows the link as ever.

const WAIT_MS = 200;
const LINKS = 'a.xref[href], a[role="doc-biblioref"][href]';

const pages = new Map([[location.pathname, document]]);
const card = document.createElement("div");
let link;
let timer;

async function load(path) {
  const answer = await fetch(path);
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

function fill(target) {
  const each = (selector, act) => card.querySelectorAll(selector).forEach(act);
  const whole = target.closest(".math-display") ?? target;
  const copy = document.importNode(whole, true);
  card.replaceChildren(...(whole.localName === "li" ? copy.childNodes : [copy]));
  // a heading alone says little
  const below = /^h\d/.test(whole.localName) && whole.nextElementSibling;
  if (below) card.append(document.importNode(below, true));
  if (target.localName === "mtr") each(`#${CSS.escape(target.id)}`, (row) => row.classList.add("referenced"));
  each("button, iframe, .heading-anchor, .eq-anchor, [role=doc-backlink]", (element) => element.remove());
  each("details", (details) => (details.open = true));
  each("[id]:not(svg *)", (element) => element.removeAttribute("id"));
  // the keyboard passes it by
  each("a, [tabindex]", (element) => {
    for (const name of ["href", "role", "tabindex"]) element.removeAttribute(name);
  });
  card.ariaLabel = whole.querySelector(":scope > math")?.getAttribute("alttext") ?? null;
}

async function show(from) {
  hide();
  link = from;
  const path = from.pathname;
  if (!pages.has(path)) pages.set(path, load(path).catch(() => new Document()));
  const target = (await pages.get(path)).getElementById(decodeURIComponent(from.hash.slice(1)));
  if (link !== from || !target) return;
  fill(target);
  from.classList.add("previewed");
  from.setAttribute("aria-describedby", card.id);
  card.showPopover({ source: from });
  // but what scrolls must be reached
  const scrolls = card.scrollHeight > card.clientHeight || card.scrollWidth > card.clientWidth;
  card.tabIndex = scrolls ? 0 : -1;
}

function hide() {
  clearTimeout(timer);
  card.hidePopover();
  link?.classList.remove("previewed");
  link?.removeAttribute("aria-describedby");
  link = undefined;
}

function hideSoon() {
  clearTimeout(timer);
  if (!link?.matches(":focus-visible") && !card.matches(":focus-within")) timer = setTimeout(hide, WAIT_MS);
}

function start() {
  // no heading's id has a colon
  card.id = "preview:card";
  card.className = "preview post-content";
  card.popover = "manual";
  card.setAttribute("role", "tooltip");
  document.querySelector("main").append(card);
  document.addEventListener("pointerover", ({ target, pointerType }) => {
    const over = target.closest(LINKS);
    if (pointerType === "touch") return;
    if (!over && !card.contains(target)) return hideSoon();
    clearTimeout(timer);
    if (over && over !== link) timer = setTimeout(show, WAIT_MS, over);
  });
  document.documentElement.addEventListener("pointerleave", hideSoon);
  document.addEventListener("focusin", ({ target }) => {
    if (target.matches(LINKS) && target.matches(":focus-visible")) show(target);
  });
  document.addEventListener("focusout", ({ relatedTarget }) => card.contains(relatedTarget) || hide());
  document.addEventListener("click", ({ target }) => target.closest(LINKS) && hide());
  document.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape") return;
    if (card.matches(":focus-within")) link.focus();
    hide();
  });
}

// older browsers keep plain links
if (card.showPopover) start();
