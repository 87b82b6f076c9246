// What a reference leads to, without going there: a card under the pointer, with the keyboard's focus, and at the
// first tap; a footnote that is tapped opens below its line. A mouse's click follows the link.

const WAIT_MS = 200;
const NOTE = 'a[role="doc-noteref"][href]';
const LINKS = `a.xref[href], a[role="doc-biblioref"][href], ${NOTE}`;
// in the language of the page
const words = JSON.parse(document.querySelector("script[data-words]")?.textContent ?? "{}");
const t = (text, number) => (words[text] ?? text).replace("{number}", number);
const make = (name, properties) => Object.assign(document.createElement(name), properties);

const pages = { [location.pathname]: document };
// no heading's id has a colon
const card = make("div", { id: "preview:card", className: "preview post-content", popover: "manual" });
let link;
let timer;
let pointer;
// the card answers a tap: it can be walked into, and leads on
let isTapped = false;

async function load(path) {
  const answer = await fetch(path);
  // Chromium loads tracks
  return new DOMParser().parseFromString((await answer.text()).replaceAll("<track", "<wbr"), "text/html");
}

async function find({ pathname: path, hash }) {
  const page = await (pages[path] ??= load(path).catch(() => new Document()));
  return page.getElementById(decodeURIComponent(hash.slice(1)));
}

// a note in the margin is in sight already
const isBeside = (target) => target.ownerDocument === document && getComputedStyle(target).position === "absolute";

// What the target holds, without what acts only in its own place.
function copyOf(target) {
  const copy = document.importNode(target, true);
  const whole = make("div");
  whole.append(...(copy.localName === "li" ? copy.childNodes : [copy]));
  const each = (selector, act) => whole.querySelectorAll(selector).forEach(act);
  each("button, iframe, .note-open, .heading-anchor, .eq-anchor, [role=doc-backlink]", (element) => element.remove());
  each("details", (details) => (details.open = true));
  each("[id]:not(svg *)", (element) => element.removeAttribute("id"));
  return whole;
}

function fill(target) {
  const whole = target.closest(".math-display") ?? target;
  const copy = copyOf(whole);
  if (target.localName === "mtr") {
    const row = [...whole.querySelectorAll("mtr")].indexOf(target);
    copy.querySelectorAll("mtr")[row].classList.add("referenced");
  }
  // a heading alone says little
  const below = /^h\d/.test(whole.localName) && whole.nextElementSibling;
  if (below) copy.append(...copyOf(below).childNodes);
  // of a card that is only looked at the keyboard passes by everything
  for (const element of copy.querySelectorAll(isTapped ? LINKS : "a, [tabindex]"))
    for (const name of ["href", "role", "tabindex"]) element.removeAttribute(name);
  card.replaceChildren(...copy.childNodes);
  card.ariaLabel = whole.querySelector(":scope > math")?.getAttribute("alttext") ?? null;
  if (!isTapped) return;
  card.ariaLabel = link.textContent || link.ariaLabel;
  const go = make("p", { className: "preview-go" });
  go.append(make("a", { href: link.href, textContent: t("Go there") }));
  card.append(go);
}

async function show(from, tapped = false) {
  hide();
  link = from;
  const target = await find(from);
  if (link !== from) return;
  if (!target || isBeside(target)) {
    if (tapped) location.href = from.href;
    return;
  }
  isTapped = tapped;
  fill(target);
  from.classList.add("previewed");
  card.setAttribute("role", tapped ? "dialog" : "tooltip");
  if (tapped) from.ariaExpanded = "true";
  else from.setAttribute("aria-describedby", card.id);
  card.showPopover({ source: from });
  // but what scrolls must be reached
  const scrolls = card.scrollHeight > card.clientHeight || card.scrollWidth > card.clientWidth;
  card.tabIndex = scrolls ? 0 : -1;
  if (tapped) card.focus({ preventScroll: true });
}

function hide() {
  clearTimeout(timer);
  card.hidePopover();
  link?.classList.remove("previewed");
  link?.removeAttribute("aria-describedby");
  if (isTapped) link.ariaExpanded = "false";
  link = undefined;
  isTapped = false;
}

function hideSoon() {
  clearTimeout(timer);
  const isKept = isTapped || link?.matches(":focus-visible") || card.matches(":focus-within");
  if (!isKept) timer = setTimeout(hide, WAIT_MS);
}

// Below the line of its mark, and closed again by the next tap there.
async function unfold(mark) {
  const target = await find(mark);
  if (!target || isBeside(target)) location.href = mark.href;
  else if (!fold(mark)) {
    const note = copyOf(target);
    note.className = "note-open";
    note.setAttribute("role", "note");
    note.ariaLabel = t("Footnote {number}", mark.textContent);
    mark.parentElement.after(note);
    mark.ariaExpanded = "true";
  }
}

function fold(mark) {
  const note = mark.parentElement.nextElementSibling;
  if (!note?.matches(".note-open")) return false;
  note.remove();
  mark.ariaExpanded = "false";
  return true;
}

function follow(event) {
  const over = event.target.closest(LINKS);
  // the keyboard clicks without a finger
  const isTap = pointer === "touch" && event.detail > 0;
  const isInside = card.contains(event.target) && !event.target.closest(".preview-go");
  if (!over) return isTap && !isInside && hide();
  if (!isTap || (over === link && isTapped)) return hide();
  event.preventDefault();
  over.matches(NOTE) ? unfold(over) : show(over, true);
}

// older browsers keep plain links
if (card.showPopover) {
  document.querySelector("main").append(card);
  addEventListener("pointerover", ({ target, pointerType }) => {
    const over = target.closest(LINKS);
    if (pointerType === "touch") return;
    if (!over && !card.contains(target)) return hideSoon();
    clearTimeout(timer);
    if (over && over !== link) timer = setTimeout(show, WAIT_MS, over);
  });
  document.documentElement.addEventListener("pointerleave", hideSoon);
  addEventListener("pointerdown", ({ pointerType }) => (pointer = pointerType), true);
  addEventListener("focusin", ({ target }) => {
    if (target.matches(LINKS) && target.matches(":focus-visible")) show(target);
  });
  addEventListener("focusout", ({ relatedTarget }) => card.contains(relatedTarget) || isTapped || hide());
  addEventListener("click", follow);
  addEventListener("keydown", ({ key }) => {
    if (key !== "Escape") return;
    document.querySelectorAll(`${NOTE}[aria-expanded=true]`).forEach(fold);
    if (card.matches(":focus-within")) link.focus();
    hide();
  });
}
