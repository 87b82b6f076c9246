// The site that a command means: that of the file in front, else the only one, else the one chosen.

const { existsSync } = require("node:fs");
const path = require("node:path");
const vscode = require("vscode");
const { CONFIG, findExecutable, findSite } = require("./executable");

const LEFT_OUT = "**/{node_modules,.venv,.blogsmith,public}/**";

/** Folders that are open and are sites, else those below them, which takes a search. @returns {Promise<string[]>} */
async function allSites() {
  const tops = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
  const open = tops.filter((folder) => existsSync(path.join(folder, CONFIG)));
  if (open.length > 0) return open;
  const found = await vscode.workspace.findFiles(`**/${CONFIG}`, LEFT_OUT, 50);
  return found.map((uri) => path.dirname(uri.fsPath)).sort();
}

/** @returns {string | undefined} */
function siteInFront() {
  const document = vscode.window.activeTextEditor?.document;
  if (document?.uri.scheme !== "file") return undefined;
  const folder = vscode.workspace.getWorkspaceFolder(document.uri);
  return folder && findSite(document.uri.fsPath, folder.uri.fsPath);
}

/** @returns {Promise<string | undefined>} */
async function chooseSite() {
  const front = siteInFront();
  if (front !== undefined) return front;
  const sites = await allSites();
  if (sites.length === 0) {
    void vscode.window.showErrorMessage(`No folder here holds ${CONFIG}; "blogsmith new site" makes one.`);
  }
  if (sites.length < 2) return sites[0];
  return vscode.window.showQuickPick(sites, { placeHolder: "Site" });
}

/**
 * The program for a site, as the settings there say.
 * @param {string | undefined} site
 * @returns {string}
 */
function executableOf(site) {
  const scope = site === undefined ? undefined : vscode.Uri.file(site);
  const setting = vscode.workspace.getConfiguration("blogsmith", scope).get("executable", "");
  return findExecutable(setting, site);
}

module.exports = { allSites, chooseSite, executableOf, siteInFront };
