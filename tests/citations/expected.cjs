// What citeproc-js makes of items: node expected.cjs ITEMS.json LOCALES STYLE.csl … → JSON on standard output.
const fs = require("fs");
const CSL = require("citeproc");
const [itemsFile, locales, ...styles] = process.argv.slice(2);
const items = JSON.parse(fs.readFileSync(itemsFile, "utf8"));
const locale = (name) => fs.readFileSync(`${locales}/${fs.existsSync(`${locales}/${name}.xml`) ? name : "en-US"}.xml`, "utf8");
const byId = Object.fromEntries(items.map((item) => [item.id, item]));
const found = {};
for (const file of styles) {
  const system = { retrieveLocale: locale, retrieveItem: (id) => byId[id] };
  const engine = new CSL.Engine(system, fs.readFileSync(file, "utf8"), "en-US");
  engine.updateItems(items.map((item) => item.id));
  const [parameters, entries] = engine.makeBibliography();
  const ids = parameters.entry_ids.map((one) => one[0]);
  const texts = Object.fromEntries(ids.map((id, index) => [id, entries[index]]));
  const clusters = items.map((item) => ({
    citationID: item.id, citationItems: [{ id: item.id }], properties: { noteIndex: 0 },
  }));
  const cites = Object.fromEntries(engine.rebuildProcessorState(clusters).map((one) => [one[0], one[2]]));
  found[file.replace(/^.*\//, "").replace(/\.csl$/, "")] = { order: ids, entries: texts, cites };
}
process.stdout.write(JSON.stringify(found));
