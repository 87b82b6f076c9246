// A copy button on each code figure and each display, and TeX for the formulas of a copied selection.
// Line numbers are not part of a code's text; a formula's TeX is its `alttext`.

const SHOWN_MS = 1600;
const OUTSIDE_MATH = /^\\begin\{(align|alignat|equation|eqnarray|flalign|gather|multline|subequations)\*?\}/;

const texOf = (math) => math.getAttribute("alttext").trim();

// tells those who do not see the button change
const status = document.createElement("p");
status.className = "copy-status";
status.setAttribute("role", "status");
document.querySelector("main").append(status);

function button(style, name, source, text) {
  const made = document.createElement("button");
  const show = (word) => (made.textContent = word);
  made.type = "button";
  made.className = style;
  show(name);
  made.addEventListener("click", async () => {
    status.textContent = made.dataset.done = show(await copy(source, text(source)));
    setTimeout(() => {
      status.textContent = "";
      delete made.dataset.done;
      show(name);
    }, SHOWN_MS);
  });
  return made;
}

async function copy(source, text) {
  try {
    await navigator.clipboard.writeText(text);
    return "copied";
  } catch {
    // refused by the reader or the browser: it is marked instead, ready for the keyboard
    getSelection().selectAllChildren(source);
    return "marked";
  }
}

function start() {
  for (const code of document.querySelectorAll("figure.code:not(:has(> .copy-button)) pre code")) {
    code.closest("figure").append(button("copy-button", "copy", code, () => code.textContent));
  }
  for (const math of document.querySelectorAll(".math-display:not(:has(> .copy-tex)) > math")) {
    const made = button("copy-tex", "copy LaTeX", math, texOf);
    made.title = made.textContent;
    math.parentElement.prepend(made);
  }
}

start();
// blocks that come while the page is open, as in the live preview
document.addEventListener("blogsmith:update", start);

function delimited(math) {
  const tex = texOf(math);
  if (math.getAttribute("display") !== "block") return `$${tex}$`;
  const block = document.createElement("pre");
  block.textContent = OUTSIDE_MATH.test(tex) ? tex : `$$${tex}$$`;
  return block;
}

// what is selected; of one formula never a part, which has no TeX of its own
function selected(range) {
  const around = range.commonAncestorContainer;
  const math = (around.closest ? around : around.parentElement)?.closest("math");
  if (math) range.selectNode(math);
  return range.cloneContents();
}

document.addEventListener("copy", (event) => {
  const selection = getSelection();
  if (!selection.rangeCount) return;
  const box = document.createElement("div");
  box.append(selected(selection.getRangeAt(0).cloneRange()));
  const formulas = box.querySelectorAll("math[alttext]");
  if (!formulas.length) return;
  box.querySelectorAll("button").forEach((made) => made.remove());
  event.clipboardData.setData("text/html", box.innerHTML);
  formulas.forEach((math) => math.replaceWith(delimited(math)));
  // only what is laid out has lines and paragraphs; it is gone before anything is painted
  document.body.append(box);
  event.clipboardData.setData("text/plain", box.innerText.trim());
  box.remove();
  event.preventDefault();
});
