// Reads {"pages": [HTML], "inline": [[open, close]], "ignore": pattern, "process": pattern} or {"myst": [Markdown]}
// from standard input; writes the formulas of each page as [["inline" or "display", TeX], …].
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const request = JSON.parse(readFileSync(0, "utf8"));
const require = createRequire(`${process.argv[2]}/`);

function mathjax() {
  const { mathjax } = require("mathjax-full/js/mathjax.js");
  const { TeX } = require("mathjax-full/js/input/tex.js");
  const { liteAdaptor } = require("mathjax-full/js/adaptors/liteAdaptor.js");
  const { RegisterHTMLHandler } = require("mathjax-full/js/handlers/html.js");
  RegisterHTMLHandler(liteAdaptor());
  const options = {};
  if (request.ignore) options.ignoreHtmlClass = request.ignore;
  if (request.process) options.processHtmlClass = request.process;
  return request.pages.map((page) => {
    const input = new TeX({ packages: ["base"], inlineMath: request.inline });
    const found = mathjax.document(page, { InputJax: input, ...options }).findMath();
    return [...found.math].map((item) => [item.display ? "display" : "inline", item.math]);
  });
}

async function myst() {
  const { mystParse } = await import(pathToFileURL(require.resolve("myst-parser")));
  const { mathTransform } = await import(pathToFileURL(require.resolve("myst-transforms")));
  const { VFile } = await import(pathToFileURL(require.resolve("vfile")));
  return request.myst.map((text) => {
    const tree = mystParse(text);
    mathTransform(tree, new VFile());
    const found = [];
    const walk = (node) => {
      if (node.type === "math" || node.type === "inlineMath")
        found.push([node.type === "math" ? "display" : "inline", node.value]);
      (node.children ?? []).forEach(walk);
    };
    walk(tree);
    return found;
  });
}

console.log(JSON.stringify(request.myst ? await myst() : mathjax()));
