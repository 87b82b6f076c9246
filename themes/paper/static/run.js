// Code that a reader edits and runs. Before the first click on Run nothing is loaded but this file; then come
// run-session.js, which runs blocks, run-output.js, which shows what comes out, and run-worker.js with Python.

const script = document.querySelector("script[data-run-session]");
const address = (name) => new URL(script.dataset[name], document.baseURI).href;
const make = (name, properties) => Object.assign(document.createElement(name), properties);
// in the language of the page
const words = JSON.parse(document.querySelector("script[data-words]")?.textContent ?? "{}");
const t = (text, values = {}) => (words[text] ?? text).replace(/\{(\w+)\}/g, (place, name) => values[name] ?? place);
const listed = ([...names]) => {
  const last = names.pop();
  return names.length ? t("{names} and {last}", { names: names.join(", "), last }) : last;
};

const QUOTED = `"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|"(?:\\\\.|[^"\\\\\\n])*"?|'(?:\\\\.|[^'\\\\\\n])*'?`;
const TOKENS = {
  c1: "#.*",
  s1: `(?:\\b[rbfutRBFUT]{1,2})?(?:${QUOTED})`,
  k:
    "\\b(?:as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|" +
    "lambda|nonlocal|pass|raise|return|try|while|with|yield)\\b",
  ow: "\\b(?:and|in|is|not|or)\\b",
  kc: "\\b(?:False|None|True)\\b",
  mi: "\\b(?:0[xXoObB][\\da-fA-F_]+|\\d[\\d_]*(?:\\.[\\d_]*)?(?:[eE][-+]?\\d+)?j?)",
};
const TOKEN = new RegExp(Object.entries(TOKENS).map(([name, text]) => `(?<${name}>${text})`).join("|"), "g");
const HELP =
  "Control Enter runs the code. Once you have typed, Tab indents; press Escape, then Tab, to leave.";

// in the order of the page
let blocks = [];
// run-session.js and run-output.js
let isLoading = false;
let isLoaded = false;
let tries = 0;

// Code with its tokens, in the classes that the page's own highlighting has, one span a line.
function highlighted(text) {
  const lines = [make("span", { className: "line" })];
  const add = (piece, kind) =>
    piece.split("\n").forEach((part, number) => {
      if (number) lines.at(-1).append("\n");
      if (number) lines.push(make("span", { className: "line" }));
      if (part) lines.at(-1).append(kind ? make("span", { className: kind, textContent: part }) : part);
    });
  let at = 0;
  for (const found of text.matchAll(TOKEN)) {
    add(text.slice(at, found.index));
    add(found[0], Object.keys(TOKENS).find((name) => found.groups[name] !== undefined));
    at = found.index + found[0].length;
  }
  add(`${text.slice(at)}\n`);
  return lines.slice(0, -1);
}

class Block {
  constructor(box) {
    this.box = box;
    this.data = box.dataset;
    this.code = box.querySelector("figure.code code");
    this.written = this.code.textContent.replace(/\n$/, "");
    this.lines = [...this.code.childNodes];
    this.addBar();
    this.addField();
    box.classList.add("active");
  }

  addBar() {
    this.button = this.box.querySelector(".run-button");
    this.reset = make("button", { type: "button", className: "run-reset", textContent: t("Reset"), hidden: true });
    this.status = make("p", { className: "run-status", textContent: this.offer() });
    this.status.setAttribute("role", "status");
    this.bar = make("div", { className: "run-bar" });
    this.button.replaceWith(this.bar);
    this.bar.append(this.button, this.reset, this.status);
    this.button.addEventListener("click", () => press(this));
    this.reset.addEventListener("click", () => this.restore());
    this.button.disabled = false;
  }

  // A field over the code. Its own letters are clear: those of the code below it are seen.
  addField() {
    const field = make("textarea", { className: "run-field", value: this.written, ariaLabel: t("Code, editable") });
    const still = { spellcheck: "false", autocomplete: "off", autocapitalize: "off", wrap: "off", rows: 1, cols: 1 };
    for (const [name, value] of Object.entries(still)) field.setAttribute(name, value);
    field.setAttribute("aria-describedby", "run:help");
    field.addEventListener("focus", () => this.align());
    field.addEventListener("blur", () => (this.hasTyped = false));
    field.addEventListener("keydown", (event) => this.type(event));
    field.addEventListener("input", () => {
      this.hasTyped = true;
      this.paint();
      this.reveal();
      // what was said of the output was said of other code
      if (this.shown) this.say("");
    });
    this.field = field;
    this.code.ariaHidden = "true";
    const pre = this.code.parentElement;
    pre.removeAttribute("tabindex");
    pre.classList.add("run-code");
    pre.append(field);
    // for the eye: the field has a name
    const sign = make("span", { className: "run-edit", textContent: t("edit"), ariaHidden: "true" });
    this.box.querySelector(".code-lang")?.before(sign);
  }

  // line numbers stand before the code
  align() {
    const numbered = this.code.closest(".numbered") && this.code.querySelector(".line");
    if (!numbered) return;
    const range = document.createRange();
    range.selectNodeContents(numbered);
    const [text] = range.getClientRects();
    if (text) this.field.style.paddingInlineStart = `${text.left - this.code.getBoundingClientRect().left}px`;
  }

  paint() {
    this.code.replaceChildren(...(this.isEdited ? highlighted(this.field.value) : this.lines));
    this.reset.hidden = !this.isEdited && !this.shown;
  }

  // The field is as wide as the code; that scrolls, and must follow the caret.
  reveal() {
    const pre = this.code.parentElement;
    const texts = document.createTreeWalker(this.code, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    let left = this.field.selectionStart;
    while (texts.nextNode() && left > texts.currentNode.length) left -= texts.currentNode.length;
    if (!texts.currentNode) return;
    range.setStart(texts.currentNode, Math.min(left, texts.currentNode.length));
    const [caret] = range.getClientRects();
    const box = pre.getBoundingClientRect();
    const room = 2 * Number.parseFloat(getComputedStyle(pre).fontSize);
    this.field.scrollLeft = 0;
    if (caret) pre.scrollLeft += Math.max(0, caret.right + room - box.right) - Math.max(0, box.left + room - caret.left);
  }

  // Tab leaves the field as any other until something is typed; then it indents, and Escape frees it.
  type(event) {
    const { key, shiftKey, isComposing } = event;
    if (isComposing) return;
    const { value, selectionStart: at, selectionEnd: end } = this.field;
    const first = value.lastIndexOf("\n", at - 1) + 1;
    const line = value.slice(first, at);
    const insert = (text) => {
      event.preventDefault();
      // the only way to insert that can be undone
      document.execCommand("insertText", false, text);
    };
    if (key === "Escape") this.hasTyped = false;
    else if (key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      if (!this.button.disabled && this.button.dataset.state !== "stop") press(this);
    } else if (key === "Enter" && !shiftKey) insert(`\n${/^ */.exec(line)[0]}${/:\s*$/.test(line) ? "    " : ""}`);
    else if (key === "Tab" && !shiftKey && this.hasTyped && value.slice(at, end).includes("\n")) {
      // what is chosen stays, further in
      this.field.setSelectionRange(first, end);
      insert(value.slice(first, end).replace(/^(?=.)/gm, "    "));
      this.field.setSelectionRange(first, this.field.selectionEnd);
    } else if (key === "Tab" && !shiftKey && this.hasTyped) insert(" ".repeat(4 - (line.length % 4)));
  }

  get isEdited() {
    return this.field.value !== this.written;
  }

  restore() {
    this.field.value = this.written;
    this.shown?.remove();
    this.shown = undefined;
    this.fold?.replaceWith(...this.recorded);
    this.fold = undefined;
    this.paint();
    this.say("");
    this.button.focus();
  }

  // something is said at once, and nothing moves when these words are shorter than the last
  wait() {
    this.bar.style.minHeight = `${this.bar.offsetHeight}px`;
    this.say(t("Loading Python…"));
  }

  say(text) {
    this.status.textContent = text;
  }

  // whether the site serves Python itself; then its files come as they are, unless its host packs them
  get isOwn() {
    return new URL(this.data.pyodide, document.baseURI).origin === location.origin;
  }

  offer() {
    const { packages = "", bytes } = this.data;
    const more = packages.split(" ").filter(Boolean);
    const size = bytes ? `${(bytes / 1e6).toFixed(bytes < 1e6 ? 1 : 0)} MB` : "";
    let what = listed(["Python", ...more]);
    if (size && this.isOwn) what = t("up to {size} of {what}", { size, what });
    // of the packages the CDN does not say how large they are
    else if (size) what = more.length ? listed([`Python (${size})`, ...more]) : t("{size} of {what}", { size, what: "Python" });
    return t("Runs here, in your browser; loads {what} first", { what });
  }
}

// the button is Run or Stop: both are the session's business
async function press(block) {
  // a double click, or one on another block too
  if (isLoading) return;
  if (!isLoaded) block.wait();
  isLoading = !isLoaded;
  try {
    // a browser may remember that an address failed
    const again = tries ? `&try=${tries}` : "";
    const [session, output] = await Promise.all(
      ["runSession", "runOutput"].map((name) => import(`${address(name)}${again}`)),
    );
    isLoaded = true;
    const harness = script.dataset.runPython.split(" ").map((path) => new URL(path, document.baseURI).href);
    session.press(block, { blocks, output, worker: address("runWorker"), harness });
  } catch {
    tries += 1;
    const host = location.host;
    block.say(`${t("Cannot load the program that runs code from {host}.", { host })} ${t("Run tries again.")}`);
  } finally {
    isLoading = false;
  }
}

function start() {
  const known = new Map(blocks.map((block) => [block.box, block]));
  const isWhole = (box) => box.querySelector("figure.code code") && box.querySelector(".run-button");
  const boxes = [...document.querySelectorAll(".runnable[data-pyodide]")].filter(isWhole);
  blocks = boxes.map((box) => known.get(box) ?? new Block(box));
}

start();
// blocks that come while the page is open, as in the live preview
document.addEventListener("blogsmith:update", start);
if (blocks.length) document.querySelector("main").append(make("p", { id: "run:help", textContent: t(HELP), hidden: true }));
