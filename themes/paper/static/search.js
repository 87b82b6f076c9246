// Search as readers see it: a field that drives a list of links, here in a dialog over any page. What stands around a
// hit comes from a file of its page, for the results that are in sight.

const WAIT_MS = 120;
const SLOW_MS = 400;
const words = JSON.parse(document.querySelector("script[data-words]")?.textContent ?? "{}");
const t = (text, count) => (words[text] ?? text).replace("{count}", count);
const make = (name, properties, ...children) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
};
const BEFORE = 60;
const LONGEST = 220;

const excerpts = {};

// A part of a page as it was indexed: prose in one line, formulas, and code as `pre`.
async function partOf({ file, part }) {
  const parts = await (excerpts[file] ??= fetch(file, { cache: "no-cache" })
    .then((answer) => answer.json())
    .catch(() => ({})));
  return new DOMParser().parseFromString(parts[part] ?? "", "text/html").body;
}

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

function formulaIn(part, { index, id }) {
  const math = part.querySelectorAll("math")[index];
  const row = math && id && math.querySelector(`mtr[id="${CSS.escape(id)}"]`);
  if (!row) return math && copyFormula(math);
  // of a display with several numbers the one line
  const short = math.cloneNode(false);
  short.append(row.parentNode.cloneNode(false));
  short.firstChild.append(row.cloneNode(true));
  return copyFormula(short);
}

// The words of a text, those that are looked for marked; and what stands there, to find it in the page.
function* piecesOf(text, isHit, pattern) {
  let end = 0;
  for (const { 0: word, index } of text.matchAll(pattern)) {
    if (index > end) yield { text: text.slice(end, index), size: index - end };
    end = index + word.length;
    // a word alone may stand elsewhere too
    yield { text: word, size: word.length, hit: isHit(word), said: text.slice(index).match(/^\S+(?: \S+){1,3}/)?.[0] };
  }
  if (end < text.length) yield { text: text.slice(end), size: text.length - end };
}

const hitsOf = (pieces) => new Set(pieces.flatMap(({ hit }) => hit ?? [])).size;
const shownOf = (pieces) => pieces.map(({ text, hit }) => (hit ? make("mark", {}, text) : text.localName ? copyFormula(text, true) : text));

// The line of code with most of the words, and its file or title.
function codeIn(part, ...rules) {
  let best = { found: 0 };
  for (const code of part.querySelectorAll("pre")) {
    for (const line of code.textContent.split("\n")) {
      const pieces = [...piecesOf(line.trim(), ...rules)];
      const found = hitsOf(pieces);
      if (found > best.found) best = { found, pieces, title: code.title };
    }
  }
  return best;
}

// The first lines of prose around the words that are looked for; a line of code where that has more of them.
function excerptOf(part, ...rules) {
  const pieces = [...part.childNodes].flatMap((node) =>
    node.localName === "math" ? { text: node, size: 8 } : node.localName === "pre" ? [] : [...piecesOf(node.textContent, ...rules)],
  );
  let start = 0;
  let most = 0;
  let said;
  pieces.forEach((piece, at) => {
    if (!piece.hit) return;
    let next = at;
    for (let size = 0; next < pieces.length && size < LONGEST - BEFORE; next += 1) size += pieces[next].size;
    const found = hitsOf(pieces.slice(at, next));
    if (found > most) [most, start, said] = [found, at, piece.said];
  });
  const code = codeIn(part, ...rules);
  if (code.found > most) {
    const line = make("code", { className: "search-code" }, ...shownOf(code.pieces));
    return { said, shown: [make("span", { className: "search-file" }, code.title), line] };
  }
  let size = 0;
  while (start && size < BEFORE) size += pieces[--start].size;
  let end = start;
  for (size = 0; end < pieces.length && size < LONGEST; end += 1) size += pieces[end].size;
  return { said, shown: [start ? "… " : "", ...shownOf(pieces.slice(start, end)), end < pieces.length ? " …" : ""] };
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
    this.examples = make("p", { className: "search-examples" });
    this.watcher = new IntersectionObserver((seen) => seen.forEach(({ isIntersecting, target }) => isIntersecting && this.addExcerpt(target)));
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
    this.timer = setTimeout(() => this.options.forEach(({ option }) => this.watcher.observe(option)), WAIT_MS);
  }

  // What a reader may look for, until there are results.
  async offer() {
    await this.index.start();
    const buttons = this.index.examples.map((text) => make("button", { type: "button", onclick: () => this.ask(text) }, text));
    if (buttons[0]) this.examples.replaceChildren(t("For example"), ...buttons);
  }

  ask(text) {
    this.field.value = text;
    this.field.focus();
    return this.search();
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
    this.watcher.disconnect();
    this.list.replaceChildren(
      ...groups.map(({ title, found, isMath }) => {
        const label = make("p", { className: "search-group-title", role: "presentation" }, title);
        const options = found.map((result, at) => this.option(result, isMath, found[at - 1]?.page));
        return make("div", { className: "search-group", role: "group", ariaLabel: title }, label, ...options);
      }),
    );
    this.list.hidden = !groups.length;
    this.examples.hidden = !!groups.length;
    this.field.ariaExpanded = !!groups.length;
    this.count.textContent = message;
    this.choose(0);
  }

  // last: the page of the result above.
  option(result, isMath, last) {
    const at = this.options.length;
    const isFurther = !isMath && result.page === last;
    const body = make("span", { className: isMath ? "search-formula" : "search-excerpt" });
    const title = make("span", { className: "search-title" }, isFurther && result.heading ? "" : result.title);
    if (result.heading) title.append(make("span", { className: "search-heading" }, ` › ${result.heading}`));
    if (result.number) title.append(make("span", { className: "search-number" }, ` ${result.number}`));
    const option = make("a", { id: `search-option-${at}`, className: isFurther ? "search-option search-further" : "search-option", role: "option", href: result.url, tabIndex: -1 }, title);
    option[isMath ? "prepend" : "append"](body);
    option.addEventListener("mousemove", () => this.choose(at, false));
    option.addEventListener("click", () => {
      option.href = result.url + textDirective(result);
      this.onLeave?.();
    });
    this.options.push((option.own = { option, body, result, isMath }));
    return option;
  }

  async addExcerpt(target) {
    this.watcher.unobserve(target);
    const { fold, terms, WORD } = this.code;
    const { body, result, isMath } = target.own;
    const wanted = terms(this.asked);
    const isHit = (word) => {
      const plain = fold(word);
      return wanted.find((term) => plain.startsWith(term) || (/[^\0-\u024f]/.test(term) && plain.includes(term)));
    };
    const part = await partOf(result);
    if (!target.isConnected) return;
    if (!isMath) {
      const { said, shown } = excerptOf(part, isHit, WORD);
      result.said = said;
      return body.replaceChildren(...shown);
    }
    const math = formulaIn(part, result);
    if (!math) return;
    body.replaceChildren(math);
    body.ariaHidden = "true";
    target.append(make("span", { className: "search-spoken" }, math.getAttribute("alttext")));
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

// takeKeys: what was typed before there was a field.
export async function openSearch(base, files, takeKeys) {
  if (!dialog) {
    const link = make("link", { rel: "stylesheet", href: files[3] });
    const styled = new Promise((resolve) => (link.onload = link.onerror = resolve));
    document.head.append(link);
    const [code] = await Promise.all([import(files[1]), styled]);
    if (dialog) return;
    box = new SearchBox(base, code, files);
    const close = make("button", { type: "button", className: "search-close", textContent: t("Close") });
    const bar = make("div", { className: "search-bar" }, box.field, close);
    dialog = make("dialog", { className: "search-dialog", ariaLabel: t("Search") }, bar, box.count, box.examples, box.list);
    close.addEventListener("click", () => dialog.close());
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
    box.onLeave = () => dialog.close();
    document.body.append(dialog);
  }
  if (!dialog.open) dialog.showModal();
  box.field.select();
  const typed = takeKeys();
  if (typed) box.ask(typed);
  box.offer().catch(() => box.index.forget());
}
