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
start();
// blocks that come while the page is open, as in the live preview
document.addEventListener("blogsmith:update", start);
