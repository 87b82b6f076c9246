// What the program prints, read.
import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import executable from "../src/executable.js";
import output from "../src/output.js";

test("the address of the preview is found as soon as its line is whole", () => {
  assert.equal(output.servedAddress("blogsmith serves http://127.0.0.1:80"), undefined);
  const line = "warning: x\nblogsmith serves http://127.0.0.1:8001/notes/ (press Ctrl-C to stop)\n";
  assert.equal(output.servedAddress(line), "http://127.0.0.1:8001/notes/");
});

test("a new post is the last line", () => {
  assert.equal(output.writtenFile("content/posts/a b.md\r\n"), "content/posts/a b.md");
});

test("of a message its first line is shown", () => {
  assert.equal(output.firstMessage("\nerror: no [new-name]\nhint: x"), "error: no [new-name]");
  assert.equal(output.firstMessage(""), "blogsmith said nothing");
});

test("the program is what the settings say, else beside the site, else anywhere", () => {
  const own = path.join("/s", ".venv", "bin", "blogsmith");
  assert.equal(executable.findExecutable(" /opt/b ", "/s", "linux", () => true), "/opt/b");
  assert.equal(executable.findExecutable("", "/s", "linux", (file) => file === own), own);
  assert.equal(executable.findExecutable("", "/s", "linux", () => false), "blogsmith");
  assert.match(executable.findExecutable("", "/s", "win32", () => true), /Scripts.blogsmith\.exe$/);
  assert.equal(executable.findExecutable("", undefined), "blogsmith");
});

test("a site is the nearest folder with settings, never above what is open", () => {
  const has = (folder) => (file) => file === path.join(folder, "blogsmith.yaml");
  assert.equal(executable.findSite("/w/s/content/a.md", "/w", has("/w/s")), "/w/s");
  assert.equal(executable.findSite("/w/s/content/a.md", "/w", has("/")), undefined);
  assert.equal(executable.findSite("/a.md", "/w", () => false), undefined);
});
