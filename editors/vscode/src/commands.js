// Commands of the palette, each for the site that is meant.

const { execFile } = require("node:child_process");
const path = require("node:path");
const { promisify } = require("node:util");
const vscode = require("vscode");
const { firstMessage, writtenFile } = require("./output");
const { chooseSite, executableOf } = require("./sites");
const { makeTask } = require("./tasks");

const call = promisify(execFile);

/** Ask for a title, write the draft and open it. */
async function newPost() {
  const site = await chooseSite();
  if (site === undefined) return;
  const title = await vscode.window.showInputBox({ prompt: "Title of the post", ignoreFocusOut: true });
  if (!title?.trim()) return;
  try {
    const { stdout } = await call(executableOf(site), ["new", "post", "--site", site, "--", title], { cwd: site });
    const file = path.resolve(site, writtenFile(stdout));
    const editor = await vscode.window.showTextDocument(vscode.Uri.file(file));
    const end = editor.document.lineAt(editor.document.lineCount - 1).range.end;
    editor.selection = new vscode.Selection(end, end);
  } catch (error) {
    const { stderr, message } = /** @type {{stderr?: string, message: string}} */ (error);
    void vscode.window.showErrorMessage(firstMessage(stderr || message));
  }
}

/** Run the cells of the post in front that are stale, in a terminal. */
async function runCells() {
  const document = vscode.window.activeTextEditor?.document;
  const site = await chooseSite();
  if (site === undefined || document === undefined) return;
  await document.save();
  await vscode.tasks.executeTask(makeTask(site, "execute", [document.uri.fsPath]));
}

async function checkSite() {
  const site = await chooseSite();
  if (site !== undefined) await vscode.tasks.executeTask(makeTask(site, "check", []));
}

module.exports = { checkSite, newPost, runCells };
