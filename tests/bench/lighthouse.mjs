// node lighthouse.mjs FOLDER CHROMIUM ROUNDS ADDRESS…: what Lighthouse measures of each page, one JSON line a look.
// FOLDER holds node_modules with the npm package lighthouse. No host but this machine can be resolved.
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, chromePath, rounds, ...addresses] = process.argv.slice(2);
const { resolve: find } = createRequire(join(resolve(folder), "here.js"));
const { default: lighthouse } = await import(pathToFileURL(find("lighthouse")));
const { launch } = await import(pathToFileURL(find("chrome-launcher")));

const chromeFlags = [
  "--headless=new",
  "--no-sandbox",
  "--disable-gpu",
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
];

for (let round = 0; round < Number(rounds); round += 1) {
  for (const address of addresses) {
    const chrome = await launch({ chromePath, chromeFlags });
    try {
      const { lhr } = await lighthouse(address, { port: chrome.port, logLevel: "silent", output: "json" });
      const scores = Object.fromEntries(
        Object.entries(lhr.categories).map(([name, { score }]) => [name, Math.round(100 * score)]),
      );
      const value = (name) => lhr.audits[name].numericValue;
      console.log(
        JSON.stringify({
          address,
          scores,
          lcp_ms: value("largest-contentful-paint"),
          fcp_ms: value("first-contentful-paint"),
          blocking_ms: value("total-blocking-time"),
          shift: value("cumulative-layout-shift"),
          bytes: value("total-byte-weight"),
          failed: Object.values(lhr.audits).filter(({ score }) => score !== null && score < 0.9).map(({ id }) => id),
        }),
      );
    } finally {
      await chrome.kill();
    }
  }
}
