// Where the reader is. What stands at the top of the window stays there when something above it changes, also over
// a reload; an edit that is out of sight is brought into it.

const KEPT = "blogsmith:place";
const FRESH_MS = 10_000;
const ANCHORS = 12;

const root = document.documentElement;

function blocks() {
  const lined = document.querySelectorAll("main [data-line]");
  return lined.length ? lined : document.querySelectorAll("main :is(h1, h2, h3, p, li, figure, table)");
}

// Blocks in the window, those that begin in it first.
function seen() {
  const begun = [];
  const open = [];
  for (const block of blocks()) {
    const { top, bottom, height } = block.getBoundingClientRect();
    if (!height || bottom <= 0 || top >= innerHeight) continue;
    if (top >= 0) begun.push({ block, top });
    else open.unshift({ block, top });
    if (begun.length === ANCHORS) break;
  }
  return [...begun, ...open];
}

export const topBlock = () => seen()[0]?.block;

export function keepPlace(change) {
  // at the very top nothing is above
  const anchors = scrollY > 0 ? seen() : [];
  if (!anchors.length) return change();
  // the browser's own anchoring would add to ours
  const { overflowAnchor } = root.style;
  root.style.overflowAnchor = "none";
  try {
    return change();
  } finally {
    const anchor = anchors.find(({ block }) => block.isConnected && block.getClientRects().length);
    const moved = anchor ? anchor.block.getBoundingClientRect().top - anchor.top : 0;
    if (moved) scrollBy({ top: moved, behavior: "instant" });
    root.style.overflowAnchor = overflowAnchor;
    if (!root.getAttribute("style")) root.removeAttribute("style");
  }
}

// The block that holds a line of the source: the last that begins on it or before.
function blockAt(line) {
  let found;
  let best = 0;
  for (const block of document.querySelectorAll("main [data-line]")) {
    const begins = Number(block.dataset.line);
    if (begins > line || begins < best) continue;
    [found, best] = [block, begins];
  }
  return found;
}

export function reveal(line) {
  let block = blockAt(line);
  // in folded text only the fold is to be seen
  while (block && !block.getClientRects().length) block = block.parentElement;
  // who types into the page is at work elsewhere
  if (!block || document.activeElement?.matches("input, textarea, select, [contenteditable]")) return;
  const { top, bottom } = block.getBoundingClientRect();
  if (bottom > 0 && top < innerHeight) return;
  const isTall = bottom - top > innerHeight;
  block.scrollIntoView({ block: isTall ? "start" : "center", behavior: "instant" });
}

// reloads of ours in a row
let reloads = 0;

// The browser would give up the page that a reader has just asked for, and load this one. A download asks for one,
// too, and leaves this one where it is.
const LEAVING_MS = 5_000;
let leaves = false;
addEventListener("beforeunload", () => {
  leaves = true;
  setTimeout(() => (leaves = false), LEAVING_MS);
});

const folds = () => [...document.querySelectorAll("details")];

export function reload() {
  if (leaves) {
    setTimeout(reload, LEAVING_MS);
    return;
  }
  const open = folds().map((fold) => fold.open);
  // what the reader has looked at for a while does not belong to the row
  const before = performance.now() < FRESH_MS ? reloads : 0;
  const place = { path: location.pathname, time: Date.now(), y: scrollY, open, reloads: before + 1 };
  sessionStorage.setItem(KEPT, JSON.stringify(place));
  history.scrollRestoration = "manual";
  location.reload();
}

// After a reload of ours; gives how many there were in a row.
export function returnToPlace() {
  const place = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
  sessionStorage.removeItem(KEPT);
  if (place?.path !== location.pathname || Date.now() - place.time > FRESH_MS) return 0;
  reloads = place.reloads;
  history.scrollRestoration = "auto";
  const now = folds();
  if (now.length === place.open.length) now.forEach((fold, number) => (fold.open = place.open[number]));
  const back = () => scrollTo({ top: place.y, behavior: "instant" });
  back();
  if (document.readyState === "complete") return reloads;
  // pictures may still push it away, but who scrolls has gone on
  const events = ["wheel", "keydown", "pointerdown"];
  const stop = () => removeEventListener("load", back);
  addEventListener("load", back, { once: true });
  for (const name of events) addEventListener(name, stop, { once: true, passive: true });
  return reloads;
}
