// Finds words in the index that a build has made (blogsmith/search/ says how), and loads what finds formulas there. No
// document is needed.

const WEIGHTS = [1, 1.4, 1.8, 5, 9];
// A to E in the first part of a page that has a term, F to J in further ones
const PLACE = /([0-9a-z]*)(?:\.([0-9a-z]+))?([A-J])/g;
// As in blogsmith/model/letters.py: marks belong to the letter before them, and invisible characters to a word.
const INVISIBLE = /[\u00ad\u034f\u180b-\u180d\u180f\u200c\u200d\u2060\ufe00-\ufe0f\u{e0100}-\u{e01ef}]+/gu;
const PAIRED =
  "[\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff\\u3005-\\u3007\\u3040-\\u30ff\\u3400-\\u9fff\\uf900-\\ufaff\\u{20000}-\\u{3ffff}]";
export const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{Mn}\p{Mc}]*/gu;
const PARTS = new RegExp(`${PAIRED}+|${PAIRED.replace("[", "[^")}+`, "gu");
const IS_PAIRED = new RegExp(`^${PAIRED}`, "u");

// As in blogsmith/search/terms.py.
export function fold(text) {
  const plain = text.replace(INVISIBLE, "").toLowerCase().normalize("NFKD").replace(/[\u0300-\u036f]+/g, "");
  return plain.normalize("NFC").replaceAll("ß", "ss").replaceAll("ς", "σ");
}

export function terms(text) {
  return (fold(text).match(WORD) ?? []).flatMap((word) =>
    word.match(PARTS).flatMap((part) => {
      const signs = [...part];
      if (IS_PAIRED.test(part)) return signs.slice(0, Math.max(1, signs.length - 1)).map((sign, at) => sign + (signs[at + 1] ?? ""));
      return signs.length <= 40 && (signs[1] || part > "\x7f") ? [part] : [];
    }),
  );
}

function fileOf(term, files) {
  if (files === 1) return 0;
  const first = term.codePointAt(0);
  return (first * 31 + (files > 16 && first < 128 && term.length > 1 ? term.codePointAt(1) : 0)) % files;
}

export class SearchIndex {
  // base: where the index lies. scripts: addresses of what finds formulas, and of what asks Pagefind.
  constructor(base, scripts) {
    this.base = new URL(base, location.href);
    this.scripts = scripts;
    this.forget();
  }

  async json(name, options) {
    const answer = await fetch(new URL(name, this.base), options);
    if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
    return answer.json();
  }

  open() {
    return (this.entry ??= this.json("index.json", { cache: "no-cache" }));
  }

  // A file of the index as it was when search was opened.
  async load(name) {
    const { files, order } = await this.open();
    const found = await (this.files[name] ??= this.json(`${name}.json?v=${files[name]}`));
    // of a site that was replaced meanwhile pages may have other numbers
    if (found.order !== order) throw new Error(name);
    return found;
  }

  // What did not come, or is too new, is asked for again.
  forget() {
    this.files = {};
    this.entry = this.pages = this.formulas = undefined;
  }

  // What a search for words needs first.
  async start() {
    const { pages, names, examples } = await this.load("pages");
    if (this.pages) return;
    this.examples = examples;
    this.names = new Set(names.split(" "));
    // of each part its page and its number there
    this.owners = pages.flatMap(([, , parts], page) => parts.map((_, part) => [page, part]));
    let first = 0;
    this.pages = pages.map(([url, title, parts]) => {
      first += parts.length;
      return { url, title, parts, first: first - parts.length };
    });
  }

  async loadFormulas() {
    const [{ Formulas }, found] = await Promise.all([import(this.scripts[0]), this.load("formulas"), this.start()]);
    this.formulas ??= new Formulas(found);
  }

  // Part of the site → how well a term stands there.
  async places(term, isPrefix) {
    const { terms: count } = await this.open();
    const file = await this.load(`terms-${fileOf(term, count)}`);
    // as texts they are smaller
    file.words ??= file.terms.split(" ");
    file.steps ??= file.places.split(" ");
    const { words, steps } = file;
    let low = 0;
    for (let high = words.length; low < high; ) {
      const middle = (low + high) >> 1;
      if (words[middle] < term) low = middle + 1;
      else high = middle;
    }
    const found = new Map();
    for (; low < words.length && (isPrefix ? words[low].startsWith(term) : words[low] === term); low += 1) {
      const share = words[low] === term ? 1 : 0.3 + (0.4 * term.length) / words[low].length;
      let page = -1;
      let part;
      for (const [, step, first, letter] of steps[low].matchAll(PLACE)) {
        const distance = step ? parseInt(step, 36) : 1;
        const weight = letter.charCodeAt() - 65;
        if (weight > 4) part += distance;
        else part = this.pages[(page += distance)].first + (first ? parseInt(first, 36) : 0);
        found.set(part, Math.max(found.get(part) ?? 0, WEIGHTS[weight % 5] * share));
      }
    }
    return found;
  }

  // Parts of pages that have all words, the best first; those that have some if none has all.
  async findWords(text, most = 20) {
    const { terms: count, folder } = await this.open();
    await this.start();
    if (!count) {
      const { findWords } = await import(this.scripts[1]);
      const found = await findWords(new URL(`${folder}/pagefind/pagefind.js`, this.base), text, most);
      return found.map(([at, anchor]) => {
        const page = this.pages.findIndex(({ url }) => url === at);
        return this.place(page, Math.max(0, this.pages[page].parts.findIndex(([id]) => id === anchor)));
      });
    }
    const wanted = [...new Set(terms(text))].slice(0, 12);
    const last = /[\p{L}\p{N}\p{M}]$/u.test(text) ? wanted.at(-1) : "";
    const lists = await Promise.all(
      wanted.map((term) => this.places(term, term === last || term.length > 3 || (IS_PAIRED.test(term) && [...term].length < 2))),
    );
    const pages = new Map();
    lists.forEach((places, at) => {
      const rarity = Math.log(1 + this.owners.length / (1 + places.size));
      for (const [part, weight] of places) {
        const [page] = this.owners[part];
        if (!pages.has(page)) pages.set(page, { best: new Map(), parts: new Map() });
        const { best, parts } = pages.get(page);
        best.set(at, Math.max(best.get(at) ?? 0, weight * rarity));
        if (!parts.has(part)) parts.set(part, new Map());
        parts.get(part).set(at, weight * rarity);
      }
    });
    const sum = (values) => [...values.values()].reduce((total, value) => total + value, 0);
    const all = [...pages].filter(([, { best }]) => best.size === wanted.length);
    const found = (all.length ? all : [...pages]).map(([, { best, parts }]) => {
      const whole = sum(best) * (best.size / wanted.length) ** 2;
      const scored = [...parts].map(([part, has]) => ({ part, score: sum(has) + 0.5 * whole, has: has.size }));
      scored.sort((a, b) => b.score - a.score);
      // further parts of a page only where all words stand together
      return scored.filter(({ has }, at) => !at || (at < 3 && has === wanted.length));
    });
    return found
      .sort(([a], [b]) => b.score - a.score)
      .flat()
      .slice(0, most)
      .map(({ part }) => this.place(...this.owners[part]));
  }

  async findFormulas(text, most = 8) {
    await this.loadFormulas();
    return this.formulas.find(text, most).map(({ page, section, id, ...found }) => ({ ...found, ...this.place(page, section, id) }));
  }

  // A part of a page, or what has an address of its own there.
  place(page, part, own) {
    const { url, parts, title } = this.pages[page];
    const [heading, name, file = 0] = parts[part];
    const id = own || heading;
    // below the folder of the index, as the page is below the one around it
    const path = url.slice(this.base.pathname.length - "search/".length);
    const excerpts = new URL(`excerpts/${path}${file}.json`, this.base);
    return { page, title, heading: name, id, url: id ? `${url}#${id}` : url, part, file: excerpts };
  }

  // Whether a text may be a formula: every word of it is a name that formulas of the site have.
  async hasNames(text) {
    await this.start();
    const isNamed = (piece) => piece.length > 1 && (this.names.has(piece) || this.names.has(piece.toLowerCase()));
    const pieces = text.trim().split(/\s+/);
    return pieces.every((piece) => piece.length === 1 || isNamed(piece)) && pieces.some(isNamed);
  }
}

// Whether a text is meant as a formula.
export const isFormula = (text) => /[\\^_=+*/<>|{}√∑∏∫∂∇≤≥≠≈∈→⇒∞·×±α-ωΑ-Ω²³]|[\w)]\(/u.test(text);
