// What code gives in the browser, in the same elements and classes as what a build recorded, and whether the two
// are alike.

const LONG = 40;
const WIDE = 36;
const COLOURS = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
const BRIGHT = COLOURS.map((name) => `bright-${name}`);
const STYLES = { 1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "inverse", 9: "strike" };
const ENDED = { 22: ["bold", "dim"], 23: ["italic"], 24: ["underline"], 27: ["inverse"], 29: ["strike"] };
const PIECE = /\x1b\[([\d;:]*)m|\x1b\[([0-2]?)K|\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -~]?|[^]/gu;
const UNSEEN = /[\0-\x07\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f]/;
// Elements of a value's own HTML, and the few that become others; of all else only the text is kept.
const KEPT = new Set(
  ("table thead tbody tfoot tr th td caption p div span b strong i em s u code pre kbd samp var small sub sup br hr " +
    "ul ol li dl dt dd blockquote details summary").split(" "),
);
const RENAMED = { H1: "p", H2: "p", H3: "p", H4: "p", H5: "p", H6: "p", SECTION: "div", ARTICLE: "div", TT: "code" };
const DROPPED = "script, style, head, title, template, noscript, iframe, object, embed, svg, math, canvas, audio, video, " +
  "button, input, select, textarea, link, meta, base, img";
const SPANS = { colspan: /^[1-9]\d{0,2}$/, rowspan: /^[1-9]\d{0,3}$/, scope: /^(col|row)(group)?$/ };
const NUMERIC = /^\s*[-+−]?(?:\d[\d,_]*(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?\s*%?\s*$|^\s*(?:nan|-?inf)\s*$/i;
const NUMBER = /([-+]?(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)/;
const TOLERANCE = 1e-6;
// what Python says of an object that does not describe itself
const NAMELESS = /^<.+ object(?: at 0x[\da-f]+)?>$/;

const make = (name, properties) => Object.assign(document.createElement(name), properties);

// A terminal's text in a `<pre>`: what is complete stays, the last line may still be overwritten.
class Text {
  constructor(className) {
    this.place = make("pre", className ? { className } : {});
    this.live = make("span");
    this.place.append(this.live);
    this.look = { styles: new Set() };
    this.line = "";
  }

  add(text) {
    const lines = (this.line + text.replaceAll("\r\n", "\n")).split("\n");
    this.line = lines.pop();
    const done = lines.flatMap((line) => [...this.settled(line), "\n"]);
    this.live.before(...done);
    const look = this.look;
    this.live.replaceChildren(...this.settled(this.line));
    // it is laid out again with what follows
    this.look = look;
  }

  // One line as it looks in the end, each stretch of one look a span.
  settled(line) {
    if (!/[\x00-\x1f\x7f-\x9f]/.test(line) && !nameOf(this.look)) return line ? [line] : [];
    let row = [];
    let at = 0;
    for (const [piece, colours, erased] of line.matchAll(PIECE)) {
      if (piece === "\r") at = 0;
      else if (piece === "\b") at = Math.max(0, at - 1);
      else if (colours !== undefined) this.look = changed(this.look, colours);
      else if (erased !== undefined) row = erased === "2" ? [] : erased === "1" ? blanked(row, at) : row.slice(0, at);
      else if (!piece.startsWith("\x1b") && !UNSEEN.test(piece)) {
        while (row.length < at) row.push([" ", ""]);
        row[at] = [piece, nameOf(this.look)];
        at += 1;
      }
    }
    return stretches(row);
  }

  end(name) {
    this.live.replaceWith(...this.live.childNodes);
    const lines = this.place.textContent.replace(/\n$/, "").split("\n");
    const isLong = lines.length > LONG;
    const isWide = !this.place.matches(".output-stderr") && lines.some((line) => line.length > WIDE);
    if (isLong || isWide) this.place.tabIndex = 0;
    if (!isLong) return;
    this.place.classList.add("output-long");
    this.place.setAttribute("role", "region");
    this.place.ariaLabel = name;
    const more = make("details", { className: "output-more" });
    more.append(make("summary", { textContent: t("All {count} lines", { count: lines.length.toLocaleString(document.documentElement.lang) }) }));
    this.place.after(more);
  }
}

function blanked(row, at) {
  return row.map((cell, number) => (number <= at ? [" ", ""] : cell));
}

function stretches(row) {
  const made = [];
  let text = "";
  row.forEach(([piece, look], number) => {
    text += piece;
    if (row[number + 1]?.[1] === look) return;
    made.push(look ? make("span", { className: look, textContent: text }) : text);
    text = "";
  });
  return made;
}

function nameOf({ ink, ground, styles }) {
  if (styles.has("inverse")) [ink, ground] = [ground ?? "black", ink ?? "white"];
  const names = [...styles].filter((style) => style !== "inverse").sort();
  return [ink, ground && `bg-${ground}`, ...names].filter(Boolean).map((name) => `ansi-${name}`).join(" ");
}

// The look after one sequence of colours. Colours beyond the sixteen are left out.
function changed(look, sequence) {
  let { ink, ground, styles } = look;
  const codes = sequence.split(/[;:]/).map(Number);
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at];
    const names = code >= 90 ? BRIGHT : COLOURS;
    if (code === 0) [ink, ground, styles] = [undefined, undefined, new Set()];
    else if (STYLES[code]) styles = new Set([...styles, STYLES[code]]);
    else if (ENDED[code]) styles = new Set([...styles].filter((style) => !ENDED[code].includes(style)));
    else if (code === 38 || code === 48) {
      const few = codes[at + 1] === 5 ? [...COLOURS, ...BRIGHT][codes[at + 2]] : undefined;
      if (code === 38) ink = few;
      else ground = few;
      at += codes[at + 1] === 5 ? 2 : 4;
    } else if (code === 39) ink = undefined;
    else if (code === 49) ground = undefined;
    else if ((code >= 30 && code < 38) || (code >= 90 && code < 98)) ink = names[code % 10];
    else if ((code >= 40 && code < 48) || (code >= 100 && code < 108)) ground = names[code % 10];
  }
  return { ink, ground, styles };
}

// A value's own HTML, built anew from what is listed: nothing of it can act or load. nextName: for each table.
function cleaned(html, nextName) {
  // what the page's policy would complain of while it is parsed; it is left out in any case
  const plain = html
    .replace(/<style\b[^]*?(?:<\/style\s*>|$)/gi, "")
    .replace(/<[a-z][^<>]*>/gi, (tag) => tag.replace(/([\s"'/])on\w+\s*=/gi, "$1data-left="));
  const parsed = new DOMParser().parseFromString(plain, "text/html").body;
  for (const element of parsed.querySelectorAll(DROPPED)) element.remove();
  const made = document.createDocumentFragment();
  made.append(...[...parsed.childNodes].flatMap(copied));
  for (const table of made.querySelectorAll("table")) {
    if (table.parentElement?.closest("table")) continue;
    const wrap = make("div", { className: "table-wrap", tabIndex: 0, ariaLabel: nextName() });
    wrap.setAttribute("role", "region");
    table.replaceWith(wrap);
    wrap.append(table);
  }
  return made;
}

function copied(node) {
  if (node.nodeType === Node.TEXT_NODE) return [node.data];
  if (node.nodeType !== Node.ELEMENT_NODE) return [];
  const inside = [...node.childNodes].flatMap(copied);
  const name = RENAMED[node.tagName] ?? node.localName;
  if (!KEPT.has(name)) return inside;
  const isEmptyHead = name === "th" && !node.textContent.trim();
  const element = make(isEmptyHead ? "td" : name);
  element.append(...inside);
  for (const [attribute, form] of Object.entries(SPANS)) {
    const value = node.getAttribute(attribute) ?? "";
    if (form.test(value) && !(isEmptyHead && attribute === "scope")) element.setAttribute(attribute, value);
  }
  if (name === "th" && !isEmptyHead && !element.hasAttribute("scope")) element.scope = node.closest("thead") ? "col" : "row";
  if (name === "td" && NUMERIC.test(node.textContent)) element.className = "align-right";
  return [element];
}

// A picture as an `<img>`, in which nothing of it runs. alt: of the recorded one, if there is one.
function picture({ svg, png }, alt) {
  const bytes = svg ?? Uint8Array.from(atob(png), (character) => character.charCodeAt(0));
  const type = svg ? "image/svg+xml" : "image/png";
  const image = make("img", { src: URL.createObjectURL(new Blob([bytes], { type })), alt });
  image.addEventListener("load", () => {
    image.width = image.naturalWidth;
    image.height = image.naturalHeight;
  });
  const figure = make("figure", { className: "output output-image" });
  figure.append(image);
  return figure;
}

// in the language of the page
const words = JSON.parse(document.querySelector("script[data-words]")?.textContent ?? "{}");
const t = (text, values = {}) => (words[text] ?? text).replace(/\{(\w+)\}/g, (place, name) => values[name] ?? place);
const inUnits = (count) => {
  const [size, name] = [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"]].find(([unit]) => count >= unit) ?? [1];
  return name ? `${(count / size).toFixed(1)} ${name}` : t("{count} bytes", { count });
};

// The outputs of one run, in order.
export class Outputs {
  // images: those that were recorded, for their words; number: of the block in its page
  constructor(images, number) {
    this.place = make("div", { className: "cell-output run-output" });
    this.images = images;
    this.number = number;
    this.tables = 0;
    this.texts = [];
    this.drawn = 0;
  }

  take(message) {
    if (message.event === "stream") this.stream(message);
    else if (message.event === "display") this.display(message);
    else if (message.event === "failure") this.text("output output-error", message.text);
    else this.place.append(make("p", { className: "output-dropped", textContent: t("… {size} more are not kept", { size: inUnits(message.bytes) }) }));
  }

  stream({ name, text }) {
    if (this.last?.place === this.place.lastChild && this.last?.name === name) this.last.add(text);
    else this.last = Object.assign(this.text(`output output-${name}`, text), { name });
  }

  text(className, text, place = this.place) {
    const shown = new Text(className);
    place.append(shown.place);
    shown.add(text);
    this.texts.push(shown);
    return shown;
  }

  display({ html, latex, svg, png, text }) {
    const value = make("div", { className: "output output-value" });
    const made = html ? cleaned(html, () => this.nextTable()) : undefined;
    if (made?.textContent.trim()) value.append(made);
    else if (svg || png) {
      const alt = this.images[this.drawn]?.alt || t("Picture drawn by this code");
      this.drawn += 1;
      this.place.append(picture({ svg, png }, alt));
      return;
    } else this.text("", latex && NAMELESS.test(text) ? latex : text, value);
    if (latex) value.dataset.formula = "";
    this.place.append(value);
  }

  // a page has no two regions of one name
  nextTable() {
    this.tables += 1;
    const output = t("output of block {number}", { number: this.number });
    return t(this.tables > 1 ? "Table {number} in {output}" : "Table in {output}", { number: this.tables, output });;
  }

  end() {
    this.texts.forEach((text, at) => text.end(t(at ? "output of block {number}, part {part}" : "output of block {number}", { number: this.number, part: at + 1 })));
    if (!this.place.hasChildNodes()) this.place.hidden = true;
  }

  remove() {
    for (const image of this.place.querySelectorAll("img")) URL.revokeObjectURL(image.src);
    this.place.remove();
  }
}

// "Same output as recorded" and the like; empty if nothing is recorded.
export function compared(recorded, place) {
  const before = outputsIn(recorded);
  if (!before.length) return "";
  const after = outputsIn([place]);
  const unseen = [["figures", ".output-image"], ["formulas", "[data-formula], :has(math)"]].filter(([, selector]) =>
    [...before, ...after].some((output) => output.matches(selector)),
  );
  const what = unseen.map(([name]) => t(name));
  const note = unseen.length ? ` (${t("not compared: {what}", { what: what.join(", ") })})` : "";
  const [old, now] = [before, after].map((outputs) =>
    outputs.filter((output) => !unseen.some(([, selector]) => output.matches(selector))).map(textOf),
  );
  if (unseen.length && !old.length && !now.length) return "";
  if (old.length === now.length && old.every((text, at) => text === now[at])) return t("Same output as recorded") + note;
  const isNear = old.length === now.length && old.every((text, at) => near(text, now[at]));
  return t(isNear ? "Same up to rounding" : "Differs from the recorded output") + note;
}

function outputsIn(elements) {
  return elements.flatMap((element) => [...element.querySelectorAll(".output:not([data-truth])")]);
}

// Python words its tracebacks anew with each version: of one the last line counts. Tables have no line ends, and
// their caption may be the post's.
function textOf(output) {
  const text = output.textContent.trimEnd();
  if (output.matches(".output-error")) return `error: ${text.split("\n").pop()}`;
  return `${output.classList[1]}: ${output.querySelector("table") ? wordsIn(output).join(" ") : text}`;
}

function wordsIn(output) {
  const nodes = document.createTreeWalker(output, NodeFilter.SHOW_TEXT);
  const words = [];
  while (nodes.nextNode()) {
    const { data, parentElement } = nodes.currentNode;
    if (!parentElement.closest("caption")) words.push(...data.split(/\s+/).filter(Boolean));
  }
  return words;
}

// Equal but for the last digits of numbers with a point; what pads a column follows from them.
function near(one, other) {
  const [first, second] = [one, other].map((text) => text.split(NUMBER));
  return first.length === second.length && first.every((part, at) => (at % 2 ? close(part, second[at]) : blank(part) === blank(second[at])));
}

const blank = (text) => text.replace(/[ \t]+/g, " ").replace(/ ?(^|\n|[[\](),]|$) ?/g, "$1");

function close(one, other) {
  if (one === other) return true;
  const isWhole = /^[-+]?[\d_]+$/.test(one) && /^[-+]?[\d_]+$/.test(other);
  const [a, b] = [one, other].map((text) => Number(text.replaceAll("_", "")));
  return !isWhole && Math.abs(a - b) <= TOLERANCE * Math.max(Math.abs(a), Math.abs(b));
}
