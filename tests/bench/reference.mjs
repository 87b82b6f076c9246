// node reference.mjs katex|temml|mathjax FOLDER: formulas as JSON lines on stdin, MathML as JSON lines on stdout.
// FOLDER holds node_modules with the npm package katex, temml or mathjax-full.
// With --time FILE: the CPU seconds of two passes over the formulas of FILE, as `math_engines.py` prints them.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

const [name, folder, , timed] = process.argv.slice(2);
const load = createRequire(join(resolve(folder), "here.js"));

function katex() {
  const library = load("katex");
  const fixed = { output: "mathml", throwOnError: true, strict: "ignore", trust: true };
  return ({ tex, display, macros }) =>
    library.renderToString(tex, { ...fixed, displayMode: Boolean(display), macros: { ...macros } });
}

function temml() {
  const library = load("temml");
  const fixed = { throwOnError: true, trust: true, annotate: false, wrap: "none" };
  return ({ tex, display, macros }) =>
    library.renderToString(tex, { ...fixed, displayMode: Boolean(display), macros: { ...macros } });
}

// Proof trees are no formulas; the two others would turn an error into a box or into text.
const LEFT_OUT = new Set(["bussproofs", "noerrors", "noundefined"]);

function mathjax() {
  const part = (path) => load(`mathjax-full/js/${path}.js`);
  part("handlers/html").RegisterHTMLHandler(part("adaptors/liteAdaptor").liteAdaptor());
  const packages = part("input/tex/AllPackages").AllPackages.filter((each) => !LEFT_OUT.has(each));
  const { TeX } = part("input/tex");
  const { mathjax: core } = part("mathjax");
  const { SerializedMmlVisitor } = part("core/MmlTree/SerializedMmlVisitor");
  const { STATE } = part("core/MathItem");
  const writer = new SerializedMmlVisitor();
  const formatError = (_, error) => { throw new Error(error.message); };
  return ({ tex, display }) => {
    // a new input for every formula: definitions must not reach the next one
    const InputJax = new TeX({ packages, macros: {}, formatError });
    const tree = core.document("", { InputJax }).convert(tex, { display: Boolean(display), end: STATE.CONVERT });
    return writer.visitTree(tree);
  };
}

const convert = { katex, temml, mathjax }[name]();
if (timed) {
  const formulas = readFileSync(timed, "utf8").trim().split("\n").map((line) => JSON.parse(line));
  const seconds = [0, 1].map(() => {
    const started = process.cpuUsage();
    for (const formula of formulas) {
      try {
        convert(formula);
      } catch {
        continue;
      }
    }
    const { user, system } = process.cpuUsage(started);
    return (user + system) / 1e6;
  });
  console.log(JSON.stringify({ formulas: formulas.length, seconds }));
  process.exit();
}
for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  let answer;
  try {
    answer = { mathml: convert(JSON.parse(line)) };
  } catch (error) {
    answer = { error: String(error.message ?? error).slice(0, 300) };
  }
  // a mark, because KaTeX prints what \show and \message say
  process.stdout.write(`\nanswer ${JSON.stringify(answer)}\n`);
}
