// A copy button on each code figure and each display. Line numbers are not part of a code's text; a formula's TeX
// is its `alttext`, or without the site's macros its `data-tex`.

const SHOWN_MS = 1600;

// in the language of the page
const words = JSON.parse(document.querySelector("script[data-words]")?.textContent ?? "{}");
const t = (text, values = {}) => (words[text] ?? text).replace(/\{(\w+)\}/g, (place, name) => values[name] ?? place);

const LABEL = /\n?[ \t]*\\label\{[^{}]*\}/g;

const texOf = (math) => (math.dataset.tex ?? math.getAttribute("alttext")).replace(LABEL, "").trim();

// lines that are gone are no part of the code
function textOf(code) {
  const copy = code.cloneNode(true);
  copy.querySelectorAll("del.line").forEach((line) => line.remove());
  return copy.textContent;
}

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
    return t("copied");
  } catch {
    // refused by the reader or the browser: it is marked instead, ready for the keyboard
    getSelection().selectAllChildren(source);
    return t("marked");
  }
}

function start() {
  for (const code of document.querySelectorAll("figure.code:not(:has(> .copy-button)) pre code")) {
    code.closest("figure").append(button("copy-button", t("copy"), code, textOf));
  }
  for (const math of document.querySelectorAll(".math-display:not(:has(> .copy-tex)) > math")) {
    const made = button("copy-tex", t("copy LaTeX"), math, texOf);
    made.title = made.textContent;
    math.parentElement.prepend(made);
  }
}

start();
// blocks that come while the page is open, as in the live preview
document.addEventListener("blogsmith:update", start);
