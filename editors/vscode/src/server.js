// The language server: `blogsmith lsp`, one for all sites of the window.

const vscode = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");
const { allSites, executableOf } = require("./sites");

const SELECTOR = [
  { scheme: "file", language: "markdown" },
  { scheme: "file", pattern: "**/blogsmith.yaml" },
];

class Server {
  /** @type {LanguageClient | undefined} */
  client;

  /** Starts it where the folder is trusted, the settings want it and there is a site. */
  async start() {
    if (this.client || !vscode.workspace.isTrusted) return;
    const [site] = await allSites();
    const settings = vscode.workspace.getConfiguration("blogsmith");
    if (site === undefined || !settings.get("server.enabled", true)) return;
    const program = {
      command: executableOf(site),
      args: ["lsp"],
      transport: TransportKind.stdio,
      options: { cwd: site },
    };
    const client = new LanguageClient("blogsmith", "blogsmith", program, { documentSelector: SELECTOR });
    this.client = client;
    try {
      await client.start();
    } catch (error) {
      this.client = undefined;
      await tellOfFailure(String(error));
    }
  }

  async stop() {
    const client = this.client;
    this.client = undefined;
    // one that never came up has nothing to stop
    if (client?.needsStop()) await client.stop();
  }

  async restart() {
    await this.stop();
    await this.start();
  }
}

/** @param {string} error */
async function tellOfFailure(error) {
  const settings = "Settings";
  const answer = await vscode.window.showWarningMessage(
    `The language server "blogsmith lsp" does not start: ${error}. It needs blogsmith with its extra lsp.`,
    settings,
  );
  if (answer === settings) {
    await vscode.commands.executeCommand("workbench.action.openSettings", "blogsmith.executable");
  }
}

module.exports = { Server };
