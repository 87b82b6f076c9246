// Shows a page as slides, one at a time. A second window of the same page, such as one with the notes, follows.

const root = document.documentElement;
const deck = document.querySelector(".slides");
const content = deck.querySelector(".post-content");
const bar = deck.querySelector(".slide-bar");
const [back, count, next, notes, full] = bar.children;
const channel = new BroadcastChannel(location.pathname);
const BREAK = "h2, hr, section";
let slides = [];
let at = 0;
let step = 0;

const isFilled = (nodes) => nodes.some((node) => node.matches?.(":not(hr)"));
const isOverview = () => root.dataset.slides === "overview";
// an item of a list; what a cell prints comes with its code
const steps = (slide) =>
  [...slide.querySelectorAll(".step")].flatMap((part) =>
    part.matches("ul, ol") ? [...part.children] : [part.closest(".cell, .table-wrap") ?? part],
  );
const nameOf = (slide) => slide.querySelector(":scope > :is(h1, h2)[id]")?.id ?? slide.id;

function wrap() {
  const groups = [[]];
  for (const child of content.childNodes) {
    for (const node of child.matches?.(".slide") ? child.childNodes : [child]) {
      if (node.matches?.(BREAK) && isFilled(groups.at(-1))) groups.push([]);
      groups.at(-1).push(node);
    }
  }
  content.replaceChildren(
    ...groups.filter(isFilled).map((nodes) => {
      const slide = document.createElement("section");
      slide.append(...nodes);
      return slide;
    }),
  );
  slides = [deck.querySelector(".post-header"), ...content.children];
  slides.forEach((slide, number) => {
    slide.classList.add("slide");
    slide.id = `slide-${number + 1}`;
  });
}

function show(number, shown, isFollowing) {
  at = Math.min(number, slides.length - 1);
  const parts = steps(slides[at]);
  step = Math.min(shown, parts.length);
  slides.forEach((slide, other) => slide.classList.toggle("is-shown", other === at));
  parts.forEach((part, other) => part.classList.toggle("is-waiting", other >= step));
  count.value = `${at + 1} / ${slides.length}`;
  history.replaceState(null, "", `#${nameOf(slides[at])}`);
  if (isOverview()) slides[at].scrollIntoView({ block: "nearest" });
  else scrollTo(0, 0);
  if (!isFollowing) channel.postMessage([at, step]);
}

function move(by) {
  const goesOn = by > 0 ? step < steps(slides[at]).length : step > 0;
  if (goesOn && !isOverview()) show(at, step + by);
  else if (slides[at + by]) show(at + by, by > 0 ? 0 : Infinity);
}

function follow() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const found = target ? slides.findIndex((slide) => slide.contains(target)) : 0;
  // a link to something on a slide shows all of it
  if (found >= 0) show(found, target && nameOf(slides[found]) !== target.id ? Infinity : 0);
}

function overview() {
  root.dataset.slides = isOverview() ? "" : "overview";
  show(at, step);
}

function toggleNotes() {
  notes.ariaPressed = root.toggleAttribute("data-notes");
}

function toggleScreen() {
  if (document.fullscreenElement) document.exitFullscreen();
  else root.requestFullscreen();
}

// a long slide scrolls first
const moveVertically = (by) => root.scrollHeight <= innerHeight + 1 && move(by);
const ahead = root.dir === "rtl" ? -1 : 1;
const KEYS = {
  ArrowRight: () => move(ahead),
  ArrowLeft: () => move(-ahead),
  ArrowDown: () => moveVertically(1),
  ArrowUp: () => moveVertically(-1),
  PageDown: () => move(1),
  PageUp: () => move(-1),
  " ": ({ shiftKey }) => move(shiftKey ? -1 : 1),
  Home: () => show(0, 0),
  End: () => show(Infinity, Infinity),
  Escape: overview,
  Enter: () => isOverview() && overview(),
  f: toggleScreen,
  s: toggleNotes,
};

addEventListener("keydown", (event) => {
  const { key, target } = event;
  // what has the focus or lies above has its own keys
  const others = /^( |Enter)$/.test(key) ? "a, button, summary" : /^Arrow[LR]/.test(key) ? "[tabindex='0']" : "object";
  if (
    event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(KEYS, key) ||
    target.closest(`input, select, textarea, video, audio, dialog, [contenteditable], ${others}`) ||
    document.querySelector(":popover-open")
  ) return;
  if (KEYS[key](event) !== false) event.preventDefault();
});
back.onclick = () => move(-1);
next.onclick = () => move(1);
notes.onclick = toggleNotes;
full.onclick = toggleScreen;
full.hidden = !document.fullscreenEnabled;
deck.onclick = (event) => {
  const chosen = slides.findIndex((slide) => slide.contains(event.target));
  if (!isOverview() || chosen < 0) return;
  event.preventDefault();
  at = chosen;
  step = 0;
  overview();
};

let touch;
deck.addEventListener("touchstart", ({ touches, target }) => {
  touch = !touches[1] && !target.closest("input, [tabindex='0']") && touches[0];
}, { passive: true });
deck.addEventListener("touchend", ({ changedTouches }) => {
  const { clientX, clientY } = changedTouches[0];
  const x = clientX - touch?.clientX;
  if (Math.abs(x) > 50 && Math.abs(x) > 2 * Math.abs(clientY - touch.clientY)) move(x < 0 ? ahead : -ahead);
});

channel.onmessage = ({ data }) => show(...data, true);
onhashchange = follow;
document.addEventListener("blogsmith:update", () => {
  wrap();
  show(at, step, true);
});
root.dataset.slides = "";
bar.hidden = false;
wrap();
follow();
