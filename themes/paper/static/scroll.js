// What scrolls takes the focus, so that the keyboard reaches it, and fades where it is cut off; what fits is no stop on
// its way. Chromium and Firefox see to the focus by themselves where a box has no `tabindex`, Safari does not.

const BOXES = ".math-display, .math-long, .diagram-scroll, .table-wrap, pre:not(.run-code)";

function read(box) {
  const { overflowX, overflowY, direction } = getComputedStyle(box);
  const hidden = overflowX === "auto" ? box.scrollWidth - box.clientWidth : 0;
  const left = direction === "rtl" ? hidden + box.scrollLeft : box.scrollLeft;
  const isLong = box.matches(".output-long") && overflowY === "auto" && box.scrollHeight > box.clientHeight;
  // a browser rounds both widths
  const more = [left > 1 && "left", hidden - left > 1 && "right"].filter(Boolean).join(" ");
  return { box, scrolls: hidden > 0 || isLong, more };
}

function write({ box, scrolls, more }) {
  if (more !== (box.dataset.more ?? "")) {
    if (more) box.dataset.more = more;
    else delete box.dataset.more;
  }
  if (scrolls === box.hasAttribute("tabindex")) return;
  // who stands on it stays there
  if (scrolls) box.tabIndex = 0;
  else if (box !== document.activeElement) box.removeAttribute("tabindex");
}

// All is read before anything is written, and nothing in what is folded: so the page is laid out once. Code that can be
// edited has a field instead.
const mark = (boxes) => boxes.filter((box) => box.matches(BOXES) && box.checkVisibility()).map(read).forEach(write);

const sizes = new ResizeObserver((entries) => mark(entries.map(({ target }) => target)));

function start() {
  const boxes = [...document.querySelectorAll(BOXES)];
  boxes.forEach((box) => sizes.observe(box));
  // fonts change what boxes hold, not their size
  if (document.fonts.status !== "loaded") document.fonts.ready.then(() => requestAnimationFrame(() => mark(boxes)));
}

// Browsers print all of a post smaller where one formula is wider than the sheet: print.css sets that one smaller.
function measure() {
  const formulas = [...document.querySelectorAll(".math-display > math, .math-long > math")];
  const size = (formula) => parseFloat(getComputedStyle(formula).fontSize);
  // of all together, so that the page is laid out twice
  formulas.forEach((formula) => (formula.style.width = "max-content"));
  const widths = formulas.map((formula) => formula.getBoundingClientRect().width / size(formula));
  formulas.forEach((formula, number) => {
    formula.style.width = "";
    // what is folded away has none
    if (widths[number]) formula.style.setProperty("--ems", widths[number]);
  });
}

addEventListener("beforeprint", measure);
document.addEventListener("scroll", ({ target }) => target.matches && mark([target]), { capture: true, passive: true });
start();
// blocks that come while the page is open, as in the live preview
document.addEventListener("blogsmith:update", start);
