// What citeproc-js makes of items: node expected.cjs ITEMS.json LOCALE.xml STYLE.csl … → JSON on standard output.
const fs = require("fs");
const CSL = require("citeproc");
const [itemsFile, localeFile, ...styles] = process.argv.slice(2);
const items = JSON.parse(fs.readFileSync(itemsFile, "utf8"));
const locale = fs.readFileSync(localeFile, "utf8");
const byId = Object.fromEntries(items.map((item) => [item.id, item]));
const found = {};
for (const file of styles) {
  const system = { retrieveLocale: () => locale, retrieveItem: (id) => byId[id] };
  const engine = new CSL.Engine(system, fs.readFileSync(file, "utf8"), "en-US");
  engine.updateItems(items.map((item) => item.id));
  const [parameters, entries] = engine.makeBibliography();
  const ids = parameters.entry_ids.map((one) => one[0]);
  const texts = Object.fromEntries(ids.map((id, index) => [id, entries[index]]));
  const cites = {};
  for (const id of ids) {
    const cluster = { citationItems: [{ id }], properties: { noteIndex: 0 } };
    cites[id] = engine.previewCitationCluster(cluster, [], [], "html");
  }
  found[file.replace(/^.*\//, "").replace(/\.csl$/, "")] = { order: ids, entries: texts, cites };
}
process.stdout.write(JSON.stringify(found));
