// What a reader copies of a page: formulas as TeX, with their numbers, and nothing of the frame around the text.

const OUTSIDE_MATH = /^\\begin\{(align|alignat|equation|eqnarray|flalign|gather|multline|subequations)\*?\}/;
const LABEL = /\n?[ \t]*\\label\{[^{}]*\}/g;
const FRAME = "button, nav, .back-link, .heading-anchor, .eq-anchor";

// as in copy.js
const texOf = (math) => (math.dataset.tex ?? math.getAttribute("alttext")).replace(LABEL, "").trim();

function delimited(math) {
  const tex = texOf(math);
  if (math.getAttribute("display") !== "block") return `$${tex}$`;
  const block = document.createElement("pre");
  const number = math.parentElement.querySelector(":scope > .eq-number");
  const isTagged = !number || tex.includes("\\tag");
  const tag = isTagged ? "" : ` \\tag{${number.textContent.replace(/^\(|\)$/g, "")}}`;
  number?.remove();
  block.textContent = OUTSIDE_MATH.test(tex)
    ? tex.replace(/\s*\\end\{\w+\*?\}$/, (end) => tag + end)
    : `$$${tex}${tag}$$`;
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
  if (!formulas.length && !box.querySelector("nav")) return;
  box.querySelectorAll(FRAME).forEach((part) => part.remove());
  event.clipboardData.setData("text/html", box.innerHTML);
  formulas.forEach((math) => math.replaceWith(delimited(math)));
  // only what is laid out has lines and paragraphs; it is gone before anything is painted
  document.body.append(box);
  event.clipboardData.setData("text/plain", box.innerText.trim());
  box.remove();
  event.preventDefault();
});
