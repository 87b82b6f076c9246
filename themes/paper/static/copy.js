// A copy button on each code figure, and a menu beside each display. Line numbers are not part of a code's text; a
// formula's TeX is its `alttext`, or without the site's macros its `data-tex`.

const SHOWN_MS = 1600;

// in the language of the page
const words = JSON.parse(document.querySelector("script[data-words]")?.textContent ?? "{}");
const t = (text, values = {}) => (words[text] ?? text).replace(/\{(\w+)\}/g, (place, name) => values[name] ?? place);

const LABEL = /\n?[ \t]*\\label\{[^{}]*\}/g;

const texOf = (math) => (math.dataset.tex ?? math.getAttribute("alttext")).replace(LABEL, "").trim();

// As text and as HTML: some programs read one, some the other. Numbers are those of this page.
function mathmlOf(math) {
  const copy = math.cloneNode(true);
  copy.querySelectorAll("mtr:has(> .eq-cell)").forEach((row) => row.firstChild.remove());
  copy.querySelectorAll(".eq-cell").forEach((cell) => cell.remove());
  copy.querySelectorAll("[id]").forEach((part) => part.removeAttribute("id"));
  const text = new XMLSerializer().serializeToString(copy);
  return Object.fromEntries(["text/plain", "text/html"].map((type) => [type, new Blob([text], { type })]));
}

// to the display, one of its rows, or the heading before it
function linkOf(math) {
  const isBefore = (heading) => heading.compareDocumentPosition(math) & Node.DOCUMENT_POSITION_FOLLOWING;
  const heading = () => [...document.querySelectorAll(":is(h2, h3, h4, h5, h6)[id]")].findLast(isBefore);
  const target = math.closest(".math-display[id]") ?? math.querySelector("[id]") ?? heading();
  const link = new URL(location.href);
  link.hash = target?.id ?? "";
  return link.href;
}

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

function button(style, name) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = style;
  made.textContent = name;
  return made;
}

function copyButton(style, name, source, dataOf, after = () => {}) {
  const made = button(style, name);
  made.addEventListener("click", async () => {
    status.textContent = made.textContent = made.dataset.done = await copy(source, dataOf(source));
    setTimeout(() => {
      status.textContent = "";
      delete made.dataset.done;
      made.textContent = name;
      after();
    }, SHOWN_MS);
  });
  return made;
}

async function copy(source, data) {
  try {
    const { clipboard } = navigator;
    await (data.trim ? clipboard.writeText(data) : clipboard.write([new ClipboardItem(data)]));
    return t("copied");
  } catch {
    // refused by the reader or the browser: it is marked instead, ready for the keyboard
    getSelection().selectAllChildren(source);
    return t("marked");
  }
}

function menu(math) {
  const made = document.createElement("div");
  const item = (name, dataOf) => copyButton("", name, math, dataOf, () => made.isConnected && made.hidePopover());
  made.className = "copy-menu";
  made.popover = "auto";
  made.append(item(t("copy LaTeX"), texOf), item(t("copy MathML"), mathmlOf), item(t("copy link"), linkOf));
  made.firstChild.autofocus = true;
  math.parentElement.append(made);
  return made;
}

function start() {
  for (const code of document.querySelectorAll("figure.code:not(:has(> .copy-button)) pre code")) {
    code.closest("figure").append(copyButton("copy-button", t("copy"), code, textOf));
  }
  for (const math of document.querySelectorAll(".math-display:not(:has(> .copy-tex)) > math")) {
    const display = math.parentElement;
    const made = button("copy-tex", `${t("copy formula")} ${display.querySelector(".eq-number")?.textContent ?? ""}`.trim());
    made.title = t("copy formula");
    // made when it is wanted; the click then opens it
    made.addEventListener("click", () => (made.popoverTargetElement ??= menu(math)));
    display.prepend(made);
  }
}

// a finger has no button to press: it hangs in no margin there
document.addEventListener("click", ({ target, pointerType }) => {
  const display = pointerType === "touch" && target.closest?.(".math-display > math")?.parentElement;
  display?.querySelector?.(":scope > .copy-tex")?.click();
});

start();
// blocks that come while the page is open, as in the live preview
document.addEventListener("blogsmith:update", start);
