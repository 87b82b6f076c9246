// Search as readers see it: a dialog over any page, and the page of the search. Results are links of a list that the
// field drives; what stands around a hit is read from the page itself, formulas included.

const WAIT_MS = 120;
const words = JSON.parse(document.querySelector("script[data-words]")?.textContent ?? "{}");
const t = (text, values = {}) => (words[text] ?? text).replace(/\{(\w+)\}/g, (_, name) => values[name]);
const make = (name, properties, ...children) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
};
const INLINE = /^(?:span|em|strong|code|a|b|i|u|s|mark|abbr|kbd|small|sub|sup|q|cite|time|wbr|del|ins|var|dfn)$/;
const NOT_TEXT = "script, style, svg, button, textarea, [role=doc-backlink], .provenance, .heading-anchor, .eq-number, .eq-anchor, .code-lang";
const BEFORE = 60;
const LONGEST = 220;

const pages = new Map();
async function pageAt(url) {
  const path = url.split("#")[0];
  if (!pages.has(path)) {
    const load = async () => {
      // Chromium asks for captions of films at once, against the policy of this page
      const html = (await (await fetch(path)).text()).replaceAll("<track", "<wbr");
      return new DOMParser().parseFromString(html, "text/html");
    };
    pages.set(path, load().catch(() => new Document()));
  }
  return pages.get(path);
}
const textOf = (page) => page.querySelector(".post-content") ?? page.querySelector("main") ?? page;

// A formula of another page, without anything that could act in this one.
function copyFormula(math) {
  const copy = document.importNode(math, true);
  for (const element of [copy, ...copy.querySelectorAll("*")]) {
    if (element.namespaceURI !== math.namespaceURI) element.remove();
    for (const { name } of [...element.attributes]) if (/^(?:on|href|id|tabindex|src|data-)/i.test(name)) element.removeAttribute(name);
  }
  return copy;
}

function inText(math) {
  math.removeAttribute("display");
  return math;
}

function formulaIn(page, { index, id }) {
  const math = textOf(page).querySelectorAll("math")[index];
  if (!math) return undefined;
  const row = id && page.getElementById(id);
  if (row?.localName !== "mtr" || !math.contains(row)) return copyFormula(math);
  // of a display with several numbers the one line
  const short = math.cloneNode(false);
  short.append(row.parentNode.cloneNode(false));
  short.firstChild.append(row.cloneNode(true));
  return copyFormula(short);
}

// What stands in a part of a page: texts, and formulas as they are.
function* piecesOf(page, id) {
  const root = textOf(page);
  const start = id && page.getElementById(id);
  const walker = page.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (node) =>
    node.nodeType === 1 && node.matches(NOT_TEXT) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT,
  );
  let isInside = !start;
  for (let node = walker.nextNode(); node; ) {
    let next;
    if (node.nodeType === 1 && /^h[1-6]$/.test(node.localName) && node.id) {
      if (isInside) return;
      isInside = node === start;
      next = walker.nextSibling() ?? walker.nextNode();
    } else if (node.localName === "math") {
      if (isInside) yield node;
      next = walker.nextSibling();
      while (!next && walker.parentNode() && walker.currentNode !== root) next = walker.nextSibling();
    } else {
      if (isInside && node.nodeType === 3) yield node.data;
      else if (isInside && !INLINE.test(node.localName)) yield " ";
      next = walker.nextNode();
    }
    node = next;
  }
}

// The first lines around the words that are looked for, these marked.
function excerptOf(page, id, isHit, pattern) {
  const pieces = [];
  for (const piece of piecesOf(page, id)) {
    if (typeof piece !== "string") pieces.push({ math: piece, size: 8 });
    else {
      const text = piece.replace(/\s+/g, " ");
      let end = 0;
      for (const word of text.matchAll(pattern)) {
        if (word.index > end) pieces.push({ text: text.slice(end, word.index), size: word.index - end });
        end = word.index + word[0].length;
        pieces.push({ text: word[0], size: word[0].length, hit: isHit(word[0]) });
      }
      if (end < text.length) pieces.push({ text: text.slice(end), size: text.length - end });
    }
  }
  let best = 0;
  let most = 0;
  pieces.forEach(({ hit }, at) => {
    if (!hit) return;
    const found = new Set();
    for (let size = 0, next = at; next < pieces.length && size < LONGEST - BEFORE; next += 1) {
      size += pieces[next].size;
      if (pieces[next].hit) found.add(pieces[next].hit);
    }
    if (found.size > most) [most, best] = [found.size, at];
  });
  let start = best;
  for (let size = 0; start && size < BEFORE; start -= 1) size += pieces[start - 1].size;
  const shown = start ? ["… "] : [];
  let size = 0;
  for (; start < pieces.length && size < LONGEST; start += 1) {
    const { text, math, hit } = pieces[start];
    size += pieces[start].size;
    shown.push(math ? inText(copyFormula(math)) : hit ? make("mark", { textContent: text }) : text);
  }
  return start < pieces.length ? [...shown, " …"] : shown;
}

class SearchBox {
  constructor(base, code) {
    this.code = code;
    this.index = new code.SearchIndex(base);
    this.field = make("input", {
      className: "search-field",
      type: "text",
      role: "combobox",
      autocomplete: "off",
      spellcheck: false,
      autocapitalize: "none",
      enterKeyHint: "search",
      placeholder: t("Words or a formula"),
      ariaLabel: t("Search"),
      ariaExpanded: "false",
      ariaAutoComplete: "list",
    });
    this.field.setAttribute("aria-controls", "search-results");
    this.list = make("div", { id: "search-results", className: "search-results", role: "listbox", ariaLabel: t("Results"), hidden: true });
    this.count = make("p", { className: "search-count", role: "status" });
    this.options = [];
    this.field.addEventListener("input", () => this.search());
    this.field.addEventListener("keydown", (event) => this.steer(event));
    // a press of the pointer leaves the focus where it is
    this.list.addEventListener("mousedown", (event) => event.preventDefault());
  }

  async search() {
    const text = this.field.value;
    this.asked = text;
    clearTimeout(this.timer);
    if (!text.trim()) return this.show([], "");
    let groups;
    try {
      groups = await this.find(text).catch(() => {
        this.index.forget();
        return this.find(text);
      });
    } catch {
      this.index.forget();
      return this.asked === text && this.show([], t("The index cannot be loaded."));
    }
    if (this.asked !== text) return;
    const count = groups.reduce((total, { found }) => total + found.length, 0);
    this.show(groups, count ? t("Results: {count}", { count }) : t("Nothing found"));
    this.timer = setTimeout(() => this.addExcerpts(text), WAIT_MS);
  }

  async find(text) {
    const isMeant = this.code.isFormula(text);
    const { formulas } = this.index;
    const found = this.index.findWords(text);
    // of a large site they are large, and words do not wait for them
    if (!isMeant && !formulas) this.index.loadFormulas().then(() => this.asked === text && this.search(), () => {});
    const isAsked = isMeant || (formulas && this.index.hasNames(text));
    const equations = { title: t("Equations"), found: isAsked ? await this.index.findFormulas(text) : [], isMath: true };
    const texts = { title: t("Pages"), found: await found };
    return (isMeant ? [equations, texts] : [texts, equations]).filter((group) => group.found.length);
  }

  show(groups, message) {
    this.options = [];
    this.list.replaceChildren(
      ...groups.map(({ title, found, isMath }, at) => {
        const label = make("p", { id: `search-group-${at}`, className: "search-group-title", role: "presentation", textContent: title });
        const group = make("div", { className: "search-group", role: "group" }, label);
        group.setAttribute("aria-labelledby", label.id);
        group.append(...found.map((result) => this.option(result, isMath)));
        return group;
      }),
    );
    this.list.hidden = !groups.length;
    this.field.ariaExpanded = String(!!groups.length);
    this.count.textContent = message;
    this.choose(groups.length ? 0 : -1);
  }

  option(result, isMath) {
    const body = make("span", { className: isMath ? "search-formula" : "search-excerpt" });
    const title = make("span", { className: "search-title" }, result.title);
    if (result.heading) title.append(make("span", { className: "search-heading", textContent: ` › ${result.heading}` }));
    if (result.number) title.append(make("span", { className: "search-number", textContent: ` ${result.number}` }));
    const option = make("a", { id: `search-option-${this.options.length}`, className: "search-option", role: "option", href: result.url, tabIndex: -1 });
    option.append(...(isMath ? [body, title] : [title, body]));
    option.addEventListener("mousemove", () => this.choose(this.options.findIndex((one) => one.option === option), false));
    option.addEventListener("click", () => this.onLeave?.());
    this.options.push({ option, body, result, isMath });
    return option;
  }

  async addExcerpts(text) {
    const { fold, terms, WORD } = this.code;
    const wanted = terms(text);
    const isHit = (word) => {
      const plain = fold(word);
      return wanted.find((term) => plain.startsWith(term) || (/[^\0-\u024f]/.test(term) && plain.includes(term)));
    };
    await Promise.all(
      this.options.map(async ({ option, body, result, isMath }) => {
        const page = await pageAt(result.url);
        if (this.asked !== text || !option.isConnected) return;
        if (!isMath) return body.replaceChildren(...excerptOf(page, result.id, isHit, WORD));
        const math = formulaIn(page, result);
        if (!math) return;
        body.replaceChildren(math);
        body.ariaHidden = "true";
        option.append(make("span", { className: "search-spoken", textContent: math.getAttribute("alttext") }));
      }),
    );
  }

  choose(at, isScrolled = true) {
    if (at === this.chosen?.at && this.chosen.option === this.options[at]?.option) return;
    this.chosen?.option.setAttribute("aria-selected", "false");
    const option = this.options[at]?.option;
    this.chosen = option && { at, option };
    this.options.forEach((one) => one.option.setAttribute("aria-selected", String(one.option === option)));
    if (!option) return this.field.removeAttribute("aria-activedescendant");
    this.field.setAttribute("aria-activedescendant", option.id);
    if (isScrolled) option.scrollIntoView({ block: at ? "nearest" : "end" });
  }

  steer(event) {
    const count = this.options.length;
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 5, PageUp: -5 }[event.key];
    if (event.isComposing || !count) return;
    if (step) {
      event.preventDefault();
      const at = (this.chosen?.at ?? -1) + step;
      this.choose(Math.abs(step) > 1 ? Math.min(count - 1, Math.max(0, at)) : (at + count) % count);
    } else if (event.key === "Enter") {
      event.preventDefault();
      const { option } = this.chosen ?? this.options[0];
      option.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, ctrlKey: event.ctrlKey, metaKey: event.metaKey }));
    }
  }
}

let dialog;
let box;

// files: addresses of this script, of the one that searches, and of the style sheet.
export async function openSearch(base, [, engine, sheet]) {
  if (!dialog) {
    const link = make("link", { rel: "stylesheet", href: sheet });
    const styled = new Promise((resolve) => (link.onload = link.onerror = resolve));
    document.head.append(link);
    const [code] = await Promise.all([import(engine), styled]);
    if (dialog) return;
    box = new SearchBox(base, code);
    const close = make("button", { type: "button", className: "search-close", textContent: t("Close") });
    const bar = make("div", { className: "search-bar" }, box.field, close);
    dialog = make("dialog", { className: "search-dialog", ariaLabel: t("Search") }, bar, box.count, box.list);
    close.addEventListener("click", () => dialog.close());
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
    box.onLeave = () => dialog.close();
    document.body.append(dialog);
  }
  if (!dialog.open) dialog.showModal();
  box.field.select();
  box.index.open().catch(() => box.index.forget());
}

// The page of the search: its field stands in the page, and the list of all pages shows what has the words.
async function openPage(place) {
  const { searchPage, parts } = place.dataset;
  const code = await import(parts.split(" ")[1]);
  const own = new SearchBox(searchPage, code);
  place.append(make("div", { className: "search-bar" }, own.field), own.count, own.list);
  const entries = [...document.querySelectorAll(".search-pages li")].map((entry) => [entry, code.fold(entry.textContent)]);
  const filter = () => {
    const wanted = code.fold(own.field.value).split(/\s+/).filter(Boolean);
    for (const [entry, text] of entries) entry.hidden = !wanted.every((word) => text.includes(word));
    for (const group of document.querySelectorAll(".search-pages section")) group.hidden = !group.querySelector("li:not([hidden])");
  };
  own.field.addEventListener("input", filter);
  own.field.value = new URLSearchParams(location.search).get("q") ?? "";
  if (own.field.value) own.search(filter());
  addEventListener("keydown", (event) => {
    const isKey = event.ctrlKey || event.metaKey ? event.key === "k" : event.key === "/";
    if (!isKey || event.altKey || event.target.matches?.("input, select, textarea")) return;
    event.preventDefault();
    own.field.focus();
  });
}

const place = document.querySelector("[data-search-page]");
if (place) openPage(place);
