// The preview: `blogsmith serve` at a free port of this machine, shown beside the text.

const { spawn } = require("node:child_process");
const vscode = require("vscode");
const { firstMessage, servedAddress } = require("./output");
const { executableOf } = require("./sites");

const CONTEXT = "blogsmith.hasPreview";
const GRACE_MS = 3000;

class Preview {
  /** @type {Map<string, {process: import("node:child_process").ChildProcess, address: Promise<string>}>} */
  running = new Map();
  log = vscode.window.createOutputChannel("Blogsmith Preview");

  /**
   * Show a site; its server is started once and ends with the window.
   * @param {string} site
   */
  async open(site) {
    const server = this.running.get(site) ?? this.serve(site);
    try {
      const address = vscode.Uri.parse(await server.address);
      const outside = await vscode.env.asExternalUri(address);
      const beside = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
      await vscode.commands.executeCommand("simpleBrowser.api.open", outside, beside);
    } catch (error) {
      this.log.show(true);
      void vscode.window.showErrorMessage(`The preview does not start: ${String(error)}`);
    }
  }

  /** @param {string} site */
  serve(site) {
    const settings = vscode.workspace.getConfiguration("blogsmith", vscode.Uri.file(site));
    const drafts = settings.get("preview.drafts", true) ? ["--drafts"] : [];
    const process = spawn(executableOf(site), ["serve", "--port", "0", "--site", site, ...drafts], { cwd: site });
    let printed = "";
    /** @type {Promise<string>} */
    const address = new Promise((resolve, reject) => {
      /** @param {Buffer} data */
      const read = (data) => {
        this.log.append(data.toString());
        printed = (printed + data.toString()).slice(-10_000);
        const found = servedAddress(printed);
        if (found !== undefined) resolve(found);
      };
      process.stdout.on("data", read);
      process.stderr.on("data", read);
      process.on("error", (error) => reject(error.message));
      process.on("exit", () => {
        this.running.delete(site);
        this.tellEditor();
        reject(firstMessage(printed));
      });
    });
    const server = { process, address };
    this.running.set(site, server);
    this.tellEditor();
    return server;
  }

  tellEditor() {
    void vscode.commands.executeCommand("setContext", CONTEXT, this.running.size > 0);
  }

  /** End all servers: as Ctrl-C does, so that cells end in order; later with force. */
  stop() {
    for (const { process } of this.running.values()) {
      process.kill("SIGINT");
      setTimeout(() => process.exitCode ?? process.kill("SIGKILL"), GRACE_MS).unref();
    }
  }

  dispose() {
    this.stop();
    this.log.dispose();
  }
}

module.exports = { Preview };
