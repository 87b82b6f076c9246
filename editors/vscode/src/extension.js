// Where the editor enters. Nothing starts a program before the folder is trusted.

const vscode = require("vscode");
const { checkSite, newPost, runCells } = require("./commands");
const { Preview } = require("./preview");
const { Server } = require("./server");
const { allSites, chooseSite } = require("./sites");
const { TYPE, provider } = require("./tasks");

const server = new Server();

/** @param {vscode.ExtensionContext} context */
async function activate(context) {
  const preview = new Preview();
  const register = vscode.commands.registerCommand;
  context.subscriptions.push(
    preview,
    register("blogsmith.openPreview", async () => {
      const site = await chooseSite();
      if (site !== undefined) await preview.open(site);
    }),
    register("blogsmith.stopPreview", () => preview.stop()),
    register("blogsmith.newPost", newPost),
    register("blogsmith.runCells", runCells),
    register("blogsmith.checkSite", checkSite),
    register("blogsmith.restartServer", () => server.restart()),
    vscode.tasks.registerTaskProvider(TYPE, provider),
    vscode.workspace.onDidGrantWorkspaceTrust(() => server.start()),
    vscode.workspace.onDidChangeConfiguration((change) => {
      const isOurs = ["executable", "server.enabled"].some((name) => change.affectsConfiguration(`blogsmith.${name}`));
      return isOurs ? server.restart() : undefined;
    }),
  );
  const sites = await allSites();
  await vscode.commands.executeCommand("setContext", "blogsmith.isSite", sites.length > 0);
  await server.start();
}

/** The window closes: the server ends in order, and previews with what is subscribed. */
function deactivate() {
  return server.stop();
}

module.exports = { activate, deactivate };
