// Bundles the extension, with the licences of what is in the bundle, and puts the schemas of settings, front matter
// and cells beside it. Nothing is fetched here, and nothing when the extension runs.
import { cp, mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { build } from "esbuild";

await mkdir("schemas", { recursive: true });
await cp("../../blogsmith/base/schema/json", "schemas", { recursive: true });
const { metafile } = await build({
  entryPoints: ["src/extension.js"],
  outfile: "dist/extension.js",
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  external: ["vscode"],
  minify: true,
  metafile: true,
});
await writeFile("dist/NOTICES.txt", await notices(Object.keys(metafile.inputs)));

/** The licences of the packages that files belong to. */
async function notices(files) {
  const folders = files.map((file) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]);
  const parts = [];
  for (const folder of [...new Set(folders.filter(Boolean))].sort()) {
    const { name, version } = JSON.parse(await readFile(`${folder}/package.json`, "utf8"));
    const license = (await readdir(folder)).find((file) => /^licen[cs]e/i.test(file));
    if (license === undefined) throw new Error(`${name} has no file with its licence`);
    parts.push(`${name} ${version}\n\n${await readFile(`${folder}/${license}`, "utf8")}`);
  }
  return parts.join(`\n${"-".repeat(80)}\n\n`);
}
