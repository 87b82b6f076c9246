// The manifest against what VS Code asks of one, and against the files of this folder.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

const read = (name) => JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), "utf8"));
const manifest = read("package.json");
const { contributes } = manifest;

test("what an extension has to say is said", () => {
  for (const key of ["name", "displayName", "description", "version", "publisher", "license", "engines", "main"]) {
    assert.ok(manifest[key], key);
  }
  assert.match(manifest.name, /^[a-z0-9][a-z0-9-]*$/);
  assert.match(manifest.version, /^\d+\.\d+\.\d+$/);
  // the types are those of the oldest editor it runs in
  assert.equal(manifest.engines.vscode, `^${manifest.devDependencies["@types/vscode"]}`);
  assert.equal(manifest.dependencies, undefined, "all that runs is in one file");
});

test("the lock names what the manifest names, and no host", () => {
  const lock = read("package-lock.json");
  assert.deepEqual(lock.packages[""].devDependencies, manifest.devDependencies);
  assert.ok(!JSON.stringify(lock).includes('"resolved"'));
});

test("folders that are not trusted start nothing", () => {
  assert.equal(manifest.capabilities.untrustedWorkspaces.supported, "limited");
  const commands = contributes.commands.filter(({ enablement }) => !enablement?.includes("isWorkspaceTrusted"));
  assert.deepEqual(commands.map(({ command }) => command), ["blogsmith.stopPreview"]);
});

test("every command, setting and task is explained", () => {
  for (const { title, category } of contributes.commands) assert.ok(title && category === "Blogsmith");
  for (const [key, setting] of Object.entries(contributes.configuration.properties)) {
    assert.ok(setting.description ?? setting.markdownDescription, key);
    assert.ok(["window", "resource", "machine-overridable"].includes(setting.scope), key);
    assert.equal(typeof setting.default, setting.type, key);
  }
});

test("problem patterns compile and name groups that they have", () => {
  for (const { name, regexp, ...groups } of contributes.problemPatterns) {
    const count = new RegExp(`${regexp}|`).exec("").length - 1;
    for (const [part, group] of Object.entries(groups)) {
      if (part !== "kind") assert.ok(group <= count, `${name} ${part}`);
    }
  }
  const names = contributes.problemPatterns.map(({ name }) => `$${name}`);
  for (const { pattern } of contributes.problemMatchers) assert.ok(names.includes(pattern));
});

test("patterns of the schemas compile as editors compile them", () => {
  for (const file of readdirSync(new URL("../schemas", import.meta.url))) {
    const patterns = [];
    JSON.stringify(read(`schemas/${file}`), (key, value) => {
      if (key === "pattern" && typeof value === "string") patterns.push(value);
      return value;
    });
    assert.ok(patterns.length > 3, file);
    for (const pattern of patterns) new RegExp(pattern, "u");
  }
});
