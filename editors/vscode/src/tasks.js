// Tasks: build, check, execute, serve, with what they report as problems of files.

const vscode = require("vscode");
const { allSites, executableOf } = require("./sites");

const TYPE = "blogsmith";
const MATCHERS = ["$blogsmith", "$blogsmith-file"];
/** Command → further arguments. `--full`: each mistake at each place, for people scroll and editors do not. */
const COMMANDS = new Map([
  ["build", ["--full"]],
  ["check", ["--full"]],
  ["execute", []],
  ["serve", ["--drafts"]],
]);

/**
 * @param {string} site
 * @param {string} command
 * @param {string[]} further
 * @param {vscode.TaskDefinition} [definition]
 * @returns {vscode.Task}
 */
function makeTask(site, command, further, definition = { type: TYPE, command }) {
  const words = [command, ...(COMMANDS.get(command) ?? []), ...further];
  const folder = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(site)) ?? vscode.TaskScope.Workspace;
  const run = new vscode.ProcessExecution(executableOf(site), words, { cwd: site });
  const matchers = command === "serve" ? ["$blogsmith-serve"] : MATCHERS;
  const task = new vscode.Task(definition, folder, command, TYPE, run, matchers);
  task.isBackground = command === "serve";
  if (command === "build") task.group = vscode.TaskGroup.Build;
  if (command === "check") task.group = vscode.TaskGroup.Test;
  return task;
}

/** @type {vscode.TaskProvider} */
const provider = {
  async provideTasks() {
    const sites = await allSites();
    return sites.flatMap((site) => [...COMMANDS.keys()].map((command) => makeTask(site, command, [])));
  },
  async resolveTask(task) {
    const [site] = await allSites();
    const { command, arguments: further } = task.definition;
    return site === undefined ? undefined : makeTask(site, command, further ?? [], task.definition);
  },
};

module.exports = { TYPE, makeTask, provider };
