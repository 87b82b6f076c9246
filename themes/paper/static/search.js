// Search as readers see it: a field that drives a list of links, here in a dialog over any page. What stands around a
// hit is read from the page itself, formulas included.

const WAIT_MS = 120;
const SLOW_MS = 400;
const words = JSON.parse(document.querySelector("script[data-words]")?.textContent ?? "{}");
const t = (text, count) => (words[text] ?? text).replace("{count}", count);
const make = (name, properties, ...children) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
};
const INLINE = /^(?:span|em|strong|code|a|b|i|u|s|mark|abbr|kbd|small|sub|sup|q|cite|time|wbr|del|ins|var|dfn)$/;
const NOT_TEXT = "script, style, svg, button, textarea, [role=doc-backlink], .provenance, .heading-anchor, .eq-number, .eq-anchor, .code-lang";
const BEFORE = 60;
const LONGEST = 220;

const pages = {};

async function load(path) {
  // Chromium asks for captions of films at once, against the policy of this page
  const html = (await (await fetch(path)).text()).replaceAll("<track", "<wbr");
  return new DOMParser().parseFromString(html, "text/html");
}

function pageAt(url) {
  const [path] = url.split("#");
  return (pages[path] ??= load(path).catch(() => new Document()));
}

const textOf = (page) => page.querySelector(".post-content") ?? page.querySelector("main") ?? page;

// A formula of another page, without anything that could act in this one.
function copyFormula(math, isInText) {
  const copy = document.importNode(math, true);
  if (isInText) copy.removeAttribute("display");
  for (const element of [copy, ...copy.querySelectorAll("*")]) {
    if (element.namespaceURI !== math.namespaceURI) element.remove();
    for (const { name } of [...element.attributes]) if (/^(?:on|href|id|tabindex|src|data-)/i.test(name)) element.removeAttribute(name);
  }
  return copy;
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

// What stands in a part of a page: texts, and formulas as they are. A page that begins with a heading has its first lines
// behind it.
function* piecesOf(page, id) {
  const root = textOf(page);
  const start = id && page.getElementById(id);
  const walker = page.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (node) =>
    node.nodeType === 1 && node.matches(NOT_TEXT) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT,
  );
  let isInside = !start;
  let isEmpty = isInside;
  for (let node = walker.nextNode(); node; ) {
    let next;
    if (node.nodeType === 1 && /^h[1-6]$/.test(node.localName) && node.id) {
      if (isInside && !isEmpty) return;
      isInside = isEmpty || node === start;
      next = walker.nextSibling() ?? walker.nextNode();
    } else if (node.localName === "math") {
      isEmpty = false;
      if (isInside) yield node;
      next = walker.nextSibling();
      while (!next && walker.parentNode() && walker.currentNode !== root) next = walker.nextSibling();
    } else {
      if (node.data?.trim()) isEmpty = false;
      if (isInside && node.nodeType === 3) yield node.data;
      else if (isInside && !INLINE.test(node.localName)) yield " ";
      next = walker.nextNode();
    }
    node = next;
  }
}

// The first lines around the words that are looked for, these marked; and what stands there, to find it in the page.
function excerptOf(page, id, isHit, pattern) {
  const pieces = [];
  const add = (text, more) => text && pieces.push({ text, size: text.length, ...more });
  for (const piece of piecesOf(page, id)) {
    if (typeof piece !== "string") add(piece, { size: 8 });
    else {
      const text = piece.replace(/\s+/g, " ");
      let end = 0;
      for (const { 0: word, index } of text.matchAll(pattern)) {
        add(text.slice(end, index));
        end = index + word.length;
        // a word alone may stand elsewhere too
        add(word, { hit: isHit(word), said: text.slice(index).match(/^\S+(?: \S+){1,3}/)?.[0] });
      }
      add(text.slice(end));
    }
  }
  let start = 0;
  let most = 0;
  let said;
  pieces.forEach((piece, at) => {
    if (!piece.hit) return;
    const found = new Set();
    for (let size = 0, next = at; next < pieces.length && size < LONGEST - BEFORE; next += 1) {
      size += pieces[next].size;
      if (pieces[next].hit) found.add(pieces[next].hit);
    }
    if (found.size > most) [most, start, said] = [found.size, at, piece.said];
  });
  let size = 0;
  while (start && size < BEFORE) size += pieces[--start].size;
  const shown = start ? ["… "] : [];
  for (size = 0; start < pieces.length && size < LONGEST; start += 1) {
    const { text, hit } = pieces[start];
    size += pieces[start].size;
    shown.push(hit ? make("mark", {}, text) : text.localName ? copyFormula(text, true) : text);
  }
  if (start < pieces.length) shown.push(" …");
  return { said, shown };
}

// Browsers that know of it mark the text where they land.
function textDirective({ url, said }) {
  if (!said || !document.fragmentDirective) return "";
  return `${url.includes("#") ? "" : "#"}:~:text=${encodeURIComponent(said).replaceAll("-", "%2D")}`;
}

export class SearchBox {
  // files: addresses of this script, of those that find words and formulas, of the style sheet, of what asks Pagefind.
  constructor(base, code, [, , formulas, , pagefind]) {
    this.code = code;
    this.index = new code.SearchIndex(base, [formulas, pagefind]);
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
    this.timer = setTimeout(() => (this.count.textContent = `${t("Loading")} …`), SLOW_MS);
    let groups;
    try {
      groups = await this.find(text).catch(() => {
        this.index.forget();
        return this.find(text);
      });
    } catch {
      this.index.forget();
    }
    if (this.asked !== text) return;
    clearTimeout(this.timer);
    if (!groups) return this.show([], t("The index cannot be loaded."));
    const count = groups.reduce((total, { found }) => total + found.length, 0);
    this.show(groups, count ? t("Results: {count}", count) : t("Nothing found"));
    this.timer = setTimeout(() => this.addExcerpts(text), WAIT_MS);
  }

  async find(text) {
    const { index, code } = this;
    const isMeant = code.isFormula(text);
    const isAsked = isMeant || (await index.hasNames(text));
    // of a large site they are large, and words do not wait for them
    const isLate = isAsked && !isMeant && !index.formulas;
    if (isLate) index.loadFormulas().then(() => this.asked === text && this.search(), () => {});
    const [formulas, parts] = await Promise.all([isAsked && !isLate ? index.findFormulas(text) : [], index.findWords(text)]);
    const equations = { title: t("Equations"), found: formulas, isMath: true };
    const texts = { title: t("Pages"), found: parts };
    return (isMeant ? [equations, texts] : [texts, equations]).filter((group) => group.found.length);
  }

  show(groups, message) {
    this.options = [];
    this.list.replaceChildren(
      ...groups.map(({ title, found, isMath }) => {
        const label = make("p", { className: "search-group-title", role: "presentation" }, title);
        const options = found.map((result, at) => this.option(result, isMath, found[at - 1]?.page));
        return make("div", { className: "search-group", role: "group", ariaLabel: title }, label, ...options);
      }),
    );
    this.list.hidden = !groups.length;
    this.field.ariaExpanded = !!groups.length;
    this.count.textContent = message;
    this.choose(0);
  }

  // last: the page of the result above.
  option(result, isMath, last) {
    const at = this.options.length;
    const isFurther = !isMath && result.page === last;
    const body = make("span", { className: isMath ? "search-formula" : "search-excerpt" });
    const title = make("span", { className: "search-title" }, isFurther ? "" : result.title);
    if (result.heading) title.append(make("span", { className: "search-heading" }, ` › ${result.heading}`));
    if (result.number) title.append(make("span", { className: "search-number" }, ` ${result.number}`));
    const option = make("a", { id: `search-option-${at}`, className: isFurther ? "search-option search-further" : "search-option", role: "option", href: result.url, tabIndex: -1 }, title);
    option[isMath ? "prepend" : "append"](body);
    option.addEventListener("mousemove", () => this.choose(at, false));
    option.addEventListener("click", () => {
      option.href = result.url + textDirective(result);
      this.onLeave?.();
    });
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
        if (!isMath) {
          const { said, shown } = excerptOf(page, result.id, isHit, WORD);
          result.said = said;
          return body.replaceChildren(...shown);
        }
        const math = formulaIn(page, result);
        if (!math) return;
        body.replaceChildren(math);
        body.ariaHidden = "true";
        option.append(make("span", { className: "search-spoken" }, math.getAttribute("alttext")));
      }),
    );
  }

  choose(at, isScrolled = true) {
    this.options.forEach(({ option }, number) => (option.ariaSelected = String(number === at)));
    this.chosen = at;
    const option = this.options[at]?.option;
    if (!option) return this.field.removeAttribute("aria-activedescendant");
    this.field.setAttribute("aria-activedescendant", option.id);
    if (isScrolled) option.scrollIntoView({ block: at ? "nearest" : "end" });
  }

  steer(event) {
    const { key, ctrlKey, metaKey } = event;
    const { options, chosen } = this;
    const last = options.length - 1;
    if (event.isComposing || last < 0) return;
    const goals = { ArrowDown: chosen < last ? chosen + 1 : 0, ArrowUp: (chosen || last + 1) - 1, PageDown: Math.min(chosen + 5, last), PageUp: Math.max(chosen - 5, 0) };
    if (key in goals) this.choose(goals[key]);
    else if (key === "Enter") options[chosen].option.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, ctrlKey, metaKey }));
    else return;
    event.preventDefault();
  }
}

let dialog;
let box;

export async function openSearch(base, files) {
  if (!dialog) {
    const link = make("link", { rel: "stylesheet", href: files[3] });
    const styled = new Promise((resolve) => (link.onload = link.onerror = resolve));
    document.head.append(link);
    const [code] = await Promise.all([import(files[1]), styled]);
    if (dialog) return;
    box = new SearchBox(base, code, files);
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
