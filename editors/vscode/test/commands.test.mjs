// Preview, tasks and commands on a stand-in of the editor and of the program.
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, test } from "node:test";

const site = mkdtempSync(path.join(tmpdir(), "blogsmith-"));
after(() => rmSync(site, { recursive: true, force: true }));
const executable = path.join(site, ".venv", "bin", "blogsmith");
const calls = path.join(site, "calls.txt");
mkdirSync(path.dirname(executable), { recursive: true });
writeFileSync(path.join(site, "blogsmith.yaml"), "title: Test\n");
writeFileSync(
  executable,
  `#!${process.execPath}
const { appendFileSync } = require("node:fs");
const words = process.argv.slice(2);
appendFileSync(${JSON.stringify(calls)}, JSON.stringify(words) + "\\n");
if (words[0] === "new" && words.at(-1) === "?") { console.error("error: no name [new-name]\\nhint: x"); process.exit(1); }
if (words[0] === "new") console.log("content/posts/a.md");
if (words[0] === "serve") {
  process.on("SIGINT", () => process.exit(0));
  console.log("blogsmith serves http://127.0.0.1:4711/ (press Ctrl-C to stop)");
  setInterval(() => {}, 1000);
}
`,
);
chmodSync(executable, 0o755);

const told = { errors: [], commands: [], shown: [], tasks: [] };
const settings = { get: (_key, fallback) => fallback };
const file = (fsPath) => ({ fsPath, scheme: "file", toString: () => fsPath });
const document = { uri: file(path.join(site, "content", "a.md")), save: async () => true, lineCount: 1, lineAt: () => ({ range: {} }) };
let title = "A title";
const vscode = {
  Uri: { file, parse: (text) => text },
  ViewColumn: { Beside: -2 },
  TaskScope: { Workspace: 2 },
  TaskGroup: { Build: "build", Test: "test" },
  Selection: class {},
  ProcessExecution: class { constructor(command, words, options) { Object.assign(this, { command, words, options }); } },
  Task: class { constructor(definition, scope, name, source, execution, matchers) { Object.assign(this, { definition, scope, name, source, execution, matchers }); } },
  env: { asExternalUri: async (uri) => uri },
  commands: { executeCommand: async (...words) => void told.commands.push(words) },
  tasks: { executeTask: async (task) => void told.tasks.push(task) },
  window: {
    activeTextEditor: { document },
    createOutputChannel: () => ({ append() {}, show() {}, dispose() {} }),
    showErrorMessage: async (text) => void told.errors.push(text),
    showInputBox: async () => title,
    showTextDocument: async (uri) => (told.shown.push(uri.fsPath), { document, selection: undefined }),
  },
  workspace: {
    workspaceFolders: undefined,
    findFiles: async () => [file(path.join(site, "blogsmith.yaml"))],
    getConfiguration: () => settings,
    getWorkspaceFolder: () => ({ uri: file(site) }),
  },
};
const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));
const require = createRequire(import.meta.url);
const { checkSite, newPost, runCells } = require("../src/commands.js");
const { Preview } = require("../src/preview.js");
const { provider } = require("../src/tasks.js");

const lastCall = () => JSON.parse(readFileSync(calls, "utf8").trim().split("\n").at(-1));

test("a new post is written by the program and opened", async () => {
  await newPost();
  assert.deepEqual(lastCall(), ["new", "post", "--site", site, "--", "A title"]);
  assert.deepEqual(told.shown, [path.join(site, "content/posts/a.md")]);
});

test("what the program refuses is shown", async () => {
  title = "?";
  await newPost();
  assert.deepEqual(told.errors.splice(0), ["error: no name [new-name]"]);
});

test("a title that begins with a hyphen is no option, and none means nothing", async () => {
  title = "--help";
  await newPost();
  assert.deepEqual(lastCall().slice(-2), ["--", "--help"]);
  const before = readFileSync(calls, "utf8");
  title = undefined;
  await newPost();
  assert.equal(readFileSync(calls, "utf8"), before);
});

test("the preview opens at the address that the program says, once, and ends", async () => {
  const preview = new Preview();
  await preview.open(site);
  await preview.open(site);
  const opened = told.commands.filter(([name]) => name === "simpleBrowser.api.open");
  assert.deepEqual(opened.map(([, uri]) => uri), ["http://127.0.0.1:4711/", "http://127.0.0.1:4711/"]);
  assert.deepEqual(lastCall(), ["serve", "--port", "0", "--site", site, "--drafts"]);
  const [{ process: server }] = preview.running.values();
  const ended = new Promise((resolve) => server.once("exit", resolve));
  preview.dispose();
  assert.equal(await ended, 0);
  assert.equal(preview.running.size, 0);
});

test("a program that is not there is told of", async () => {
  rmSync(executable);
  assert.ok(!existsSync(executable));
  const kept = process.env.PATH;
  process.env.PATH = "";
  await new Preview().open(site);
  process.env.PATH = kept;
  assert.match(told.errors.splice(0).join(), /The preview does not start: .*ENOENT/);
});

test("tasks name the program, its folder and who reads its messages", async () => {
  const tasks = await provider.provideTasks();
  assert.deepEqual(tasks.map(({ name }) => name), ["build", "check", "execute", "serve"]);
  for (const { execution } of tasks) assert.equal(execution.options.cwd, site);
  assert.deepEqual(tasks[1].execution.words, ["check", "--full"]);
  assert.deepEqual(tasks[3].matchers, ["$blogsmith-serve"]);
  const own = await provider.resolveTask({ definition: { type: "blogsmith", command: "build", arguments: ["--drafts"] } });
  assert.deepEqual(own.execution.words, ["build", "--full", "--drafts"]);
});

test("cells of the post in front run, and the site is checked", async () => {
  await runCells();
  await checkSite();
  const words = told.tasks.map(({ execution }) => execution.words);
  assert.deepEqual(words, [["execute", document.uri.fsPath], ["check", "--full"]]);
});

test("a folder that is open and a site is found without a search", async () => {
  vscode.workspace.workspaceFolders = [{ uri: file(site) }, { uri: file("/nowhere") }];
  vscode.workspace.findFiles = () => assert.fail("searched");
  assert.deepEqual(await require("../src/sites.js").allSites(), [site]);
});
