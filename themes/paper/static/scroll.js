// What scrolls takes the focus, so that the keyboard reaches it; what fits is no stop on its way. Chromium and
// Firefox see to that by themselves where a box has no `tabindex`, Safari does not.

const BOXES = ".math-display, .math-long, .diagram-scroll, .table-wrap, pre:not(.run-code)";

function scrolls(box) {
  const { overflowX, overflowY } = getComputedStyle(box);
  return (
    (box.scrollWidth > box.clientWidth && overflowX === "auto") ||
    (box.scrollHeight > box.clientHeight && overflowY === "auto" && box.matches(".output-long"))
  );
}

function mark(box) {
  // code that can be edited has a field instead
  if (!box.matches(BOXES)) return;
  // who stands on it stays there
  if (scrolls(box)) box.tabIndex = 0;
  else if (box !== document.activeElement) box.removeAttribute("tabindex");
}

const sizes = new ResizeObserver((entries) => entries.forEach(({ target }) => mark(target)));

function start() {
  const boxes = document.querySelectorAll(BOXES);
  boxes.forEach((box) => sizes.observe(box));
  // fonts change what boxes hold, not their size
  document.fonts.ready.then(() => boxes.forEach(mark));
}

start();
// blocks that come while the page is open, as in the live preview
document.addEventListener("blogsmith:update", start);
