// Finds words and formulas in the index that a build has made (blogsmith/search/ says how). No document is needed.

const WEIGHTS = { A: 1, B: 1.4, C: 1.8, D: 5, E: 9 };
const MARKS = "\\u0300-\\u036f\\u0483-\\u0487\\u0591-\\u05c7\\u0610-\\u061a\\u064b-\\u065f\\u0670\\u0900-\\u0dff\\u0f00-\\u0fff";
const PAIRED =
  "[\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff\\u3005-\\u3007\\u3040-\\u30ff\\u3400-\\u9fff\\uf900-\\ufaff\\u{20000}-\\u{3ffff}]";
export const WORD = new RegExp(`[\\p{L}\\p{N}](?:[\\p{L}\\p{N}${MARKS}])*`, "gu");
const PARTS = new RegExp(`${PAIRED}+|${PAIRED.replace("[", "[^")}+`, "gu");
const IS_PAIRED = new RegExp(`^${PAIRED}`, "u");
const isAscii = (text) => /^[\0-\x7f]*$/.test(text);

// As in blogsmith/search/terms.py.
export function fold(text) {
  const plain = text.toLowerCase().normalize("NFKD").replace(/[\u0300-\u036f]+/g, "");
  return plain.normalize("NFC").replaceAll("ß", "ss").replaceAll("ς", "σ");
}

export function terms(text) {
  return (fold(text).match(WORD) ?? []).flatMap((word) =>
    word.match(PARTS).flatMap((part) => {
      const signs = [...part];
      if (IS_PAIRED.test(part)) return signs.slice(0, Math.max(1, signs.length - 1)).map((sign, at) => sign + (signs[at + 1] ?? ""));
      return signs.length <= 40 && (signs.length > 1 || !isAscii(part)) ? [part] : [];
    }),
  );
}

function fileOf(term, files) {
  if (files === 1) return 0;
  const first = term.codePointAt(0);
  return (first * 31 + (files > 16 && first < 128 && term.length > 1 ? term.codePointAt(1) : 0)) % files;
}

// What is written before formulas are read, as people type them without TeX.
const TYPED = { "<=": "≤", ">=": "≥", "!=": "≠", "->": "→", "=>": "⇒", "...": "…", "**": "^" };
const VARIABLE = "\x01";
const UNKNOWN = "\0";

function neighbours(code) {
  const groups = new Set();
  for (const length of [1, 2, 3]) {
    for (let at = 0; at + length <= code.length; at += 1) groups.add(code.slice(at, at + length));
  }
  return groups;
}

const isVariable = (token) => /^\p{L}$/u.test(token);

// A formula as blogsmith/tex/analysis/formula_tokens.py reads it, and the same for what is typed without TeX.
class FormulaReader {
  constructor(text, formulas, options) {
    this.options = options;
    this.isTyped = options.isTyped;
    this.text = this.isTyped ? text.replace(/<=|>=|!=|->|=>|\.\.\.|\*\*/g, (signs) => TYPED[signs]) : text;
    this.at = 0;
    this.formulas = formulas;
  }

  read() {
    const found = [];
    for (const token of this.until("")) {
      if (token === "|" && found.at(-1) === "|") found[found.length - 1] = "‖";
      else found.push(token);
    }
    return found;
  }

  match(pattern) {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found) this.at = pattern.lastIndex;
    return found;
  }

  until(end) {
    const found = [];
    while (this.at < this.text.length) {
      if (end && this.text[this.at] === end) {
        this.at += 1;
        break;
      }
      found.push(...this.item());
    }
    return found;
  }

  item() {
    const command = this.match(/\\([A-Za-z]+|[^])/y);
    if (command) return this.command(command[1]);
    if (/[\^_]/.test(this.text[this.at])) return this.scripts();
    if (this.match(/\{/y)) return this.until("}");
    const run = this.isTyped && this.match(/[A-Za-z]{2,}/y);
    if (run) return this.typed(run[0]);
    const number = this.match(/\d+/y);
    if (number) return number;
    return this.signs(this.match(/[^]/uy)[0]);
  }

  signs(text) {
    const raised = /[²³¹⁰-ⁿ]/.test(text) ? ["^"] : /[₀-ₜ]/.test(text) ? ["_"] : [];
    return [
      ...(this.isTyped ? raised : []),
      ...[...text.normalize("NFKC")].map((sign) => this.formulas.signs[sign] ?? sign).filter((sign) => !/[()[\]{}.,;&$~\s]/.test(sign)),
    ];
  }

  // Letters in a row: a name that formulas of the site hold, a sign's name, or several letters.
  typed(run) {
    const name = (text) => this.formulas.nameOf(text);
    if (name(run)) return [name(run)];
    const found = [];
    for (let at = 0; at < run.length; ) {
      let end = run.length;
      while (end - at >= 3 && !name(run.slice(at, end))) end -= 1;
      if (end - at < 3) end = at + 1;
      found.push(end - at === 1 ? run[at] : name(run.slice(at, end)));
      at = end;
    }
    return found;
  }

  argument(isScript) {
    this.match(/\s*/y);
    const first = this.text[this.at];
    if (first === undefined || first === "}") return [];
    if (/\d/.test(first) && !(isScript && this.isTyped)) return this.match(/\d/y);
    if (first === "{" || (this.isTyped && first === "(")) {
      this.at += 1;
      return this.until(first === "(" ? ")" : "}");
    }
    if (this.isTyped) {
      const run = this.match(/[A-Za-z]{2,}/y);
      if (run) {
        const tokens = this.typed(run[0]);
        // `x_ij` has i alone below, as in TeX; what is one name goes as one
        this.at -= tokens.length > 1 ? run[0].length - 1 : 0;
        return tokens.slice(0, 1);
      }
    }
    return this.item();
  }

  raw() {
    this.match(/\s*\*?\s*/y);
    const start = this.at;
    if (this.text[start] !== "{") return this.match(/\\[A-Za-z]+|[^]/y)?.[0] ?? "";
    let depth = 0;
    do {
      depth += { "{": 1, "}": -1 }[this.text[this.at]] ?? 0;
      this.at += 1;
    } while (depth && this.at < this.text.length);
    return this.text.slice(start + 1, this.at - (depth ? 0 : 1));
  }

  scripts() {
    const parts = {};
    for (let kind; /[\^_]/.test((kind = this.text[this.at])) && !parts[kind]; ) {
      this.at += 1;
      parts[kind] = this.argument(true);
      const next = this.text.slice(this.at).match(/^\s*(?=[\^_])/);
      this.at += next ? next[0].length : 0;
    }
    const order = this.options.isSwapped ? ["_", "^"] : Object.keys(parts);
    return order.flatMap((kind) => {
      const found = parts[kind] ?? [];
      return found[0] === "′" && found.length === 1 ? found : found.length ? [kind, ...found] : [];
    });
  }

  command(name) {
    const { macros, signs, takes } = this.formulas;
    if (Object.hasOwn(macros, name) && this.options.calls-- > 0) {
      const values = [];
      while (macros[name].includes(`#${values.length + 1}`)) values.push(this.raw());
      const body = macros[name].replace(/#(\d)/g, (_, place) => values[place - 1]);
      this.text = `${this.text.slice(0, this.at)}{${body}}${this.text.slice(this.at)}`;
      return this.argument();
    }
    switch (takes[name]) {
      case "fraction":
        return [...this.argument(), "/", ...this.argument()];
      case "root": {
        const degree = this.match(/\s*\[([^\]{}]*)\]/y);
        return ["√", ...(degree ? this.inner(degree[1]).until("") : []), ...this.argument()];
      }
      case "second":
        this.argument();
        return this.argument();
      case "nothing":
        this.raw();
        return [];
      case "words":
        return this.words(this.raw());
      case "name":
        if (/^(?:array|alignat\*?|alignedat)$/.test(this.raw()) && name === "begin") this.raw();
        return [];
    }
    if (/[A-Za-z]/.test(name)) return [signs[name] ?? (name.length > 1 ? name.toLowerCase() : name)].filter(Boolean);
    return name === "|" ? ["‖"] : /[\\:!>,;\s{}$&]/.test(name) ? [] : this.signs(name);
  }

  inner(text, isTyped = this.isTyped) {
    const inner = new FormulaReader(text, this.formulas, this.options);
    inner.isTyped = isTyped;
    return inner;
  }

  words(text) {
    const found = [];
    const reader = this.inner(text, false);
    while (reader.at < reader.text.length) {
      const word = reader.match(/\p{L}+/uy)?.[0];
      if (word) found.push([...word].length > 1 ? word.toLowerCase() : word);
      else if (!reader.match(/\\(?=\s|$)|[{}-]/y)) found.push(...reader.item());
    }
    return found;
  }
}

// The formulas of a site; what they are compared by is made once.
export class Formulas {
  constructor({ tokens, names, variables, signs, takes, macros, formulas }) {
    const codes = [...names];
    this.codes = new Map(tokens.split(" ").map((token, at) => [token, codes[at]]));
    this.known = new Set(tokens.split(" ").filter((token) => /^[a-z]{2,}$/.test(token)));
    this.signs = { __proto__: null, ...signs };
    this.takes = { __proto__: null, ...takes };
    this.macros = macros;
    const variable = variables && new RegExp(`[${variables.replace(/[\\\]^-]/g, "\\$&")}]`, "gu");
    // of a formula that stands in many places all are found at once
    const places = new Map();
    for (const [page, found] of formulas) {
      for (const [section, index, kind, id, number, code] of found) {
        if (!places.has(code)) places.set(code, []);
        places.get(code).push({ page, section, index, kind, id, number });
      }
    }
    this.all = [...places].map(([code, found]) => ({ code, found, shape: variable ? code.replace(variable, VARIABLE) : code }));
    this.groups = { code: this.groupsOf("code"), shape: this.groupsOf("shape") };
  }

  // Up to three neighbours → the formulas that have them.
  groupsOf(kind) {
    const found = new Map();
    this.all.forEach((formula, at) => {
      for (const group of neighbours(formula[kind])) {
        if (!found.has(group)) found.set(group, []);
        found.get(group).push(at);
      }
    });
    return found;
  }

  tokens(text, isTyped = true, isSwapped = true) {
    return new FormulaReader(text.slice(0, 500), this, { isTyped, isSwapped, calls: 100 }).read();
  }

  // The token that letters in a row stand for, if there is one.
  nameOf(run) {
    const low = run.toLowerCase();
    return this.signs[run] || { sqrt: "√", infinity: "∞" }[low] || this.signs[low] || (this.known.has(low) ? low : "");
  }

  // The best first. What has the same structure counts as much as what has the same letters.
  find(text, most = 10) {
    // `e^x_i` is e^{x_i} for who types it, and e_i^x for TeX
    const readings = [true, false].map((isSwapped) => this.tokens(text, true, isSwapped));
    const found = new Map();
    for (const tokens of readings) for (const [at, score] of this.score(tokens)) found.set(at, Math.max(score, found.get(at) ?? 0));
    const all = [...found].flatMap(([at, score]) => this.all[at].found.map((place) => ({ ...place, score: score + 0.04 * place.kind })));
    return all.sort((a, b) => b.score - a.score).slice(0, most);
  }

  // Formula → how alike it is, of those that are alike enough.
  score(tokens) {
    const code = tokens.map((token) => this.codes.get(token) ?? UNKNOWN).join("");
    const shape = tokens.map((token) => (isVariable(token) ? VARIABLE : (this.codes.get(token) ?? UNKNOWN))).join("");
    if (!code) return [];
    const exact = this.shares(code, "code");
    const alike = this.shares(shape, "shape");
    return [...alike]
      .map(([at, share]) => [at, share, exact.get(at) ?? 0])
      .filter(([, share, own]) => own > 0.05 && share + own > 0.7)
      .map(([at, share, own]) => {
        const formula = this.all[at];
        const whole = formula.code.includes(code) ? 0.4 : formula.shape.includes(shape) ? 0.2 : 0;
        return [at, share + own + whole - 0.08 * Math.abs(Math.log2(formula.code.length / code.length))];
      });
  }

  // Which share of the groups of neighbours in a query each formula has; rare ones count for more.
  shares(code, kind) {
    const shares = new Map();
    let total = 0;
    for (const group of neighbours(code)) {
      const having = this.groups[kind].get(group) ?? [];
      const weight = Math.log(1 + this.all.length / (1 + having.length)) * (group.length > 1 ? 1 : 0.3);
      total += weight;
      for (const at of having) shares.set(at, (shares.get(at) ?? 0) + weight);
    }
    for (const [at, share] of shares) shares.set(at, share / total);
    return shares;
  }
}

export class SearchIndex {
  constructor(base) {
    this.base = new URL(base, location.href);
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

  // A file of the version of the site that was there when search was opened.
  async load(name) {
    const { folder } = await this.open();
    if (!this.files.has(name)) this.files.set(name, this.json(`${folder}/${name}.json`));
    return this.files.get(name);
  }

  // Files that do not come may be those of a site that was replaced meanwhile.
  forget() {
    this.files = new Map();
    this.entry = this.pages = this.owners = this.formulas = this.pagefind = undefined;
  }

  // What a search for words needs first.
  async start() {
    this.pages ??= (await this.load("pages")).map(([url, title, parts]) => ({ url, title, parts }));
    this.owners ??= this.pages.flatMap((page, at) => page.parts.map((_, part) => [at, part]));
  }

  async loadFormulas() {
    await this.start();
    this.formulas ??= new Formulas(await this.load("formulas"));
  }

  // One of the files of terms: all of them, and where each stands.
  async termFile(number) {
    const name = `terms-${number}`;
    const found = await this.load(name);
    // as texts it is smaller
    if (typeof found[0] === "string") found.splice(0, 2, ...found.map((text) => text.split(" ")));
    return found;
  }

  // Part of the site → how well a term stands there.
  async places(term, isPrefix) {
    const { terms: count } = await this.entry;
    const [words, steps] = await this.termFile(fileOf(term, count));
    let low = 0;
    for (let high = words.length; low < high; ) {
      const middle = (low + high) >> 1;
      if (words[middle] < term) low = middle + 1;
      else high = middle;
    }
    const found = new Map();
    for (; low < words.length && (isPrefix ? words[low].startsWith(term) : words[low] === term); low += 1) {
      const share = words[low] === term ? 1 : 0.3 + (0.4 * term.length) / words[low].length;
      let part = -1;
      for (const [, step, weight] of steps[low].matchAll(/([0-9a-z]*)([A-E])/g)) {
        part += step ? parseInt(step, 36) : 1;
        found.set(part, Math.max(found.get(part) ?? 0, WEIGHTS[weight] * share));
      }
    }
    return found;
  }

  // Parts of pages that have all words, the best first; those that have some if none has all.
  async findWords(text, most = 20) {
    if (!(await this.open()).terms) return this.findByPagefind(text, most);
    await this.start();
    const wanted = [...new Set(terms(text))].slice(0, 12);
    const last = /[\p{L}\p{N}]$/u.test(text) ? wanted.at(-1) : "";
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
    const sum = (values) => values.reduce((total, value) => total + value, 0);
    const all = [...pages].filter(([, { best }]) => best.size === wanted.length);
    const found = (all.length ? all : [...pages]).flatMap(([page, { best, parts }]) => {
      const whole = sum([...best.values()]) * (best.size / wanted.length) ** 2;
      const scored = [...parts].map(([part, has]) => ({ part, score: sum([...has.values()]) + 0.5 * whole, has: has.size }));
      scored.sort((a, b) => b.score - a.score);
      // further parts of a page only where all words stand together
      return scored.filter(({ has }, at) => !at || (at < 3 && has === wanted.length)).map((one) => ({ page, ...one }));
    });
    return found
      .sort((a, b) => b.score - a.score)
      .slice(0, most)
      .map(({ part, score }) => ({ ...this.place(...this.owners[part]), score }));
  }

  // The same by Pagefind, which knows the pages that it was given.
  async findByPagefind(text, most) {
    const { folder } = await this.open();
    this.pagefind ??= await import(new URL(`${folder}/pagefind/pagefind.js`, this.base));
    const { results } = await this.pagefind.search(text);
    const found = await Promise.all(results.slice(0, most / 2).map((result) => result.data()));
    return found.flatMap(({ meta: { at, title }, sub_results: parts }) =>
      parts.slice(0, 2).map(({ anchor, title: heading }) => {
        const id = anchor?.element.startsWith("h2") ? anchor.id : "";
        return { title, heading: id && heading, id, url: id ? `${at}#${id}` : at };
      }),
    );
  }

  async findFormulas(text, most = 8) {
    await this.loadFormulas();
    return this.formulas.find(text, most).map((formula) => {
      const place = this.place(formula.page, formula.section);
      return { ...place, ...formula, url: formula.id ? `${place.page.url}#${formula.id}` : place.url, page: place.page };
    });
  }

  place(page, part) {
    const { url, parts, title } = this.pages[page];
    const [id, heading] = parts[part];
    return { page: this.pages[page], title, heading, id, url: id ? `${url}#${id}` : url };
  }

  // Whether a text may be one: every word of it is a name that formulas of the site have.
  hasNames(text) {
    const isNamed = (piece) => piece.length > 1 && this.formulas.nameOf(piece);
    const pieces = text.trim().split(/\s+/);
    return pieces.every((piece) => piece.length === 1 || isNamed(piece)) && pieces.some(isNamed);
  }
}

// Whether a text is meant as a formula.
export const isFormula = (text) => /[\\^_=+*/<>|{}√∑∏∫∂∇≤≥≠≈∈→⇒∞·×±α-ωΑ-Ω²³]|[\w)]\(/u.test(text);
