// A place in a file, opened in the author's editor: by an address that the editor answers to, by a command that the
// server runs, or, where no editor is set, by hand with what stands on the clipboard.

import { make } from "./interface.js";
import { act, tag } from "./page.js";

const NEVER = /^(javascript|data|vbscript|blob):/;

const nameOf = ({ path, line }) => (line ? `${path}:${line}` : path);

function addressOf({ path, line, column }) {
  const template = tag.dataset.editor;
  if (!template || template === "command") return undefined;
  const values = { path: path.split("/").map(encodeURIComponent).join("/"), line: line || 1, column: column || 1 };
  const address = template.replace(/\{(path|line|column)\}/g, (_, name) => values[name]);
  return URL.canParse(address) && !NEVER.test(new URL(address).protocol) ? address : undefined;
}

function linkTo(address, properties) {
  const link = make("a", { ...properties, href: address });
  // an editor in the browser must not take the page's place
  if (/^https?:/.test(address)) Object.assign(link, { target: "_blank", rel: "noopener" });
  return link;
}

export class Editor {
  // say: tells the author something in a few words.
  constructor(say) {
    this.say = say;
  }

  // A link or a button that opens a place.
  control(place, properties) {
    const address = addressOf(place);
    if (address) return linkTo(address, properties);
    return make("button", { ...properties, type: "button", onclick: () => this.open(place) });
  }

  async open(place) {
    const address = addressOf(place);
    if (address) linkTo(address).click();
    else if (tag.dataset.editor === "command") await this.run(place);
    else await this.copy(nameOf(place));
  }

  async run({ path, line, column }) {
    try {
      await act("edit", { path, line: line || 1, column: column || 1 });
      this.say(`Opened ${nameOf({ path, line })}`);
    } catch (error) {
      this.say(`The editor could not be opened: ${error.message}`);
    }
  }

  async copy(name) {
    try {
      await navigator.clipboard.writeText(name);
      this.say(`Copied ${name}`);
    } catch {
      this.say(name);
    }
  }
}
