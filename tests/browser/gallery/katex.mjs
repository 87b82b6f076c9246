// node katex.mjs FOLDER: formulas {tex, display} as JSON lines on stdin, {html} or {error} as JSON lines on stdout.
// FOLDER holds node_modules with the npm package katex.
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

const load = createRequire(join(resolve(process.argv[2]), "here.js"));
const katex = load("katex");
load("katex/contrib/mhchem");

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const { tex, display } = JSON.parse(line);
  let answer;
  try {
    answer = { html: katex.renderToString(tex, { displayMode: display, output: "html", strict: "ignore", trust: true }) };
  } catch (error) {
    answer = { error: String(error.message ?? error) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
