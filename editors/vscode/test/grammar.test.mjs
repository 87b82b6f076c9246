// The grammars, in the engine that VS Code has, on a Markdown that knows fences and code alone.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import textmate from "vscode-textmate";
import oniguruma from "vscode-oniguruma";

const wasm = createRequire(import.meta.url).resolve("vscode-oniguruma/release/onig.wasm");
await oniguruma.loadWASM(readFileSync(wasm).buffer);
const read = (name) => readFileSync(new URL(`../${name}`, import.meta.url), "utf8");
const { grammars } = JSON.parse(read("package.json")).contributes;
const MARKDOWN = {
  scopeName: "text.html.markdown",
  patterns: [
    {
      begin: "^```python.*$", end: "^```$", name: "markup.fenced_code.block.markdown",
      patterns: [{ begin: "(^|\\G)(?!```)", while: "^(?!```)", contentName: "meta.embedded.block.python", patterns: [] }],
    },
    { match: "`[^`]+`", name: "markup.inline.raw.string.markdown" },
    { match: "<!--.*?-->", name: "comment.block.html" },
  ],
  repository: {},
};
const registry = new textmate.Registry({
  onigLib: Promise.resolve({
    createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
    createOnigString: (text) => new oniguruma.OnigString(text),
  }),
  loadGrammar: async (scope) => {
    if (scope === MARKDOWN.scopeName) return MARKDOWN;
    const found = grammars.find(({ scopeName }) => scopeName === scope);
    return found ? textmate.parseRawGrammar(read(found.path), found.path) : null;
  },
  getInjections: (scope) =>
    scope === MARKDOWN.scopeName ? grammars.map(({ scopeName }) => scopeName) : undefined,
});
const grammar = await registry.loadGrammar(MARKDOWN.scopeName);

/** Text → the scopes of the token in it that begins with `part`. */
function scopesOf(text, part) {
  let state = textmate.INITIAL;
  for (const line of text.split("\n")) {
    const { tokens, ruleStack } = grammar.tokenizeLine(line, state);
    state = ruleStack;
    const at = line.indexOf(part);
    if (at < 0) continue;
    return tokens.find(({ startIndex, endIndex }) => startIndex <= at && at < endIndex).scopes.join(" ");
  }
  return assert.fail(`there is no ${part}`);
}

const MATH = "meta.embedded.math.blogsmith";

test("formulas in the line", () => {
  assert.match(scopesOf("so $x + y$ is", "x"), new RegExp(`markup.math.inline.blogsmith ${MATH}`));
  assert.match(scopesOf("so \\(x + y\\) is", "x"), new RegExp(MATH));
  assert.match(scopesOf("by $\\alpha_1$", "\\alpha"), /support\.function\.tex/);
  assert.doesNotMatch(scopesOf("so $x + y$ is", "is"), /math/);
});

test("money, code and escapes are no formulas", () => {
  assert.doesNotMatch(scopesOf("from $5 and $10 on", "and"), /math/);
  assert.doesNotMatch(scopesOf("the code `$x$`", "x"), /math/);
  assert.doesNotMatch(scopesOf("a \\$x$ sign", "x"), /math/);
  assert.doesNotMatch(scopesOf("```python\na = '$x$'\n```", "x"), /math/);
});

test("displays go over lines and end", () => {
  const text = "$$\n\\begin{align}\na &= b \\label{eq:x} % why\n\\end{align}\n$$\nText";
  assert.match(scopesOf(text, "a &"), new RegExp(`markup.math.display.blogsmith ${MATH}`));
  assert.match(scopesOf(text, "\\label"), /keyword\.other\.reference\.tex/);
  assert.match(scopesOf(text, "% why"), /comment\.line/);
  assert.doesNotMatch(scopesOf(text, "Text"), /math/);
});

test("references", () => {
  assert.match(scopesOf("by {@eq:x}.", "{@eq:x}"), /reference\.blogsmith/);
  assert.match(scopesOf("by \\eqref{eq:x}.", "\\eqref"), /reference\.blogsmith/);
});

test("callouts and labels", () => {
  assert.match(scopesOf("> [!THEOREM]- Name {#thm-x}", "THEOREM"), /keyword\.control\.callout/);
  assert.match(scopesOf("> [!THEOREM]- Name {#thm-x}", "- Name"), /keyword\.operator\.fold/);
  assert.match(scopesOf("> [!THEOREM]- Name {#thm-x}", "#thm-x"), /attribute-name\.id/);
  assert.doesNotMatch(scopesOf("`[!NOTE]`", "NOTE"), /callout/);
});

test("shortcodes and values", () => {
  const text = '{% include img.html src="a.png" %} and {= x + 1 =}';
  assert.match(scopesOf(text, "img.html"), /entity\.name\.function\.shortcode/);
  assert.match(scopesOf(text, "src"), /attribute-name/);
  assert.match(scopesOf(text, "a.png"), /string\.quoted/);
  assert.match(scopesOf(text, "x + 1"), /meta\.value/);
  assert.doesNotMatch(scopesOf(text, "and"), /blogsmith/);
});

test("options of cells", () => {
  const text = "```python\n#| fig-cap: A text\nx = 1  # no option\n```";
  assert.match(scopesOf(text, "fig-cap"), /entity\.name\.tag\.yaml/);
  assert.match(scopesOf(text, "A text"), /string\.unquoted/);
  assert.doesNotMatch(scopesOf(text, "x = 1"), /option/);
});
