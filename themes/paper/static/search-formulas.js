// Formulas: what is typed is read as their TeX was, and compared with all of a site. No document is needed.

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
  constructor({ tokens, names, signs, takes, macros, formulas }) {
    const codes = [...names];
    this.codes = new Map(tokens.split(" ").map((token, at) => [token, codes[at]]));
    this.signs = { __proto__: null, ...signs };
    this.takes = { __proto__: null, ...takes };
    this.macros = macros;
    const shapes = new Map([...this.codes].map(([token, code]) => [code, isVariable(token) ? VARIABLE : code]));
    // of a formula that stands in many places all are found at once
    const places = new Map();
    for (const [page, found] of formulas) {
      for (const [section, index, kind, id, number, code] of found) {
        if (!places.has(code)) places.set(code, []);
        places.get(code).push({ page, section, index, kind, id, number });
      }
    }
    this.all = [...places].map(([code, found]) => ({ code, found, shape: [...code].map((sign) => shapes.get(sign)).join("") }));
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
    return this.signs[run] || this.signs[low] || (low.length > 1 && this.codes.has(low) ? low : "");
  }

  // The best first. What has the same structure counts as much as what has the same letters.
  find(text, most = 10) {
    // `e^x_i` is e^{x_i} for who types it, and e_i^x for TeX
    const found = new Map();
    for (const isSwapped of [true, false])
      for (const [at, score] of this.score(this.tokens(text, true, isSwapped))) found.set(at, Math.max(score, found.get(at) ?? 0));
    const all = [...found].flatMap(([at, score]) => this.all[at].found.map((place) => ({ ...place, score: score + 0.04 * place.kind })));
    return all.sort((a, b) => b.score - a.score).slice(0, most);
  }

  // Formula → how alike it is, of those that are alike enough.
  score(tokens) {
    const codes = tokens.map((token) => this.codes.get(token) ?? UNKNOWN);
    const code = codes.join("");
    const shape = tokens.map((token, at) => (isVariable(token) ? VARIABLE : codes[at])).join("");
    const exact = this.shares(code, "code");
    return [...this.shares(shape, "shape")].flatMap(([at, share]) => {
      const own = exact.get(at) ?? 0;
      if (own <= 0.05 || share + own <= 0.7) return [];
      const formula = this.all[at];
      const whole = formula.code.includes(code) ? 0.4 : formula.shape.includes(shape) ? 0.2 : 0;
      return [[at, share + own + whole - 0.08 * Math.abs(Math.log2(formula.code.length / code.length))]];
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
