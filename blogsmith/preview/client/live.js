// The preview's side in the browser: keeps the page up to date, says what is wrong and what runs.

import { Badge } from "./badge.js";
import { Cells } from "./cells.js";
import { Editor } from "./editor.js";
import { listen } from "./events.js";
import { renewFiles } from "./files.js";
import { Interface, loadLook } from "./interface.js";
import { Overlay } from "./overlay.js";
import { isThisPage, tag } from "./page.js";
import { Pointing } from "./pointing.js";
import { reload, returnToPlace } from "./scrolling.js";
import { Sheets } from "./sheets.js";
import { Updates } from "./update.js";

const GONE = "This page no longer exists; this is its last version";

class Preview {
  constructor() {
    const face = new Interface();
    this.badge = new Badge(face);
    const editor = new Editor((text) => face.say(text));
    this.overlay = new Overlay(face, this.badge, editor);
    this.cells = new Cells(face, this.badge);
    this.pointing = new Pointing(face, this.badge, editor);
    this.sheets = new Sheets();
    this.updates = new Updates(this.sheets, (isGone) => this.updated(isGone));
  }

  updated(isGone) {
    this.badge.setText("gone", isGone ? GONE : "");
    this.pointing.offer(this.badge);
    if (!isGone) this.cells.settle();
  }

  hear(event) {
    const act = this[`on_${event.kind}`];
    act?.call(this, event);
  }

  on_lost() {
    this.badge.setText("lost", "Not connected");
  }

  async on_hello({ run, problems, running }) {
    this.badge.setText("lost", "");
    this.overlay.show(problems ?? { errors: 0, warnings: 0, items: [] }, this.run !== run);
    this.cells.start(running ?? []);
    // another server has another token, which comes with the page
    const isOther = this.run !== undefined && this.run !== run;
    this.run = run;
    if (isOther || (await this.isStale())) this.updates.update();
  }

  // Whether something was missed while there was no connection.
  async isStale() {
    try {
      const question = new URLSearchParams({ path: location.pathname });
      const answer = await fetch(new URL(`version?${question}`, import.meta.url), { cache: "no-store" });
      const { version } = await answer.json();
      return version !== tag.dataset.version;
    } catch {
      return false;
    }
  }

  on_pages({ pages }) {
    const path = Object.keys(pages).find(isThisPage);
    if (path === undefined) return;
    const { version, line } = pages[path];
    if (version === tag.dataset.version && !this.updates.isBusy) return;
    this.updates.update(line ?? undefined);
  }

  on_css({ files }) {
    this.sheets.renew(files);
  }

  on_files({ files }) {
    if (renewFiles(files)) reload();
  }

  on_problems(problems) {
    this.overlay.show(problems, false);
  }

  on_run(event) {
    this.cells.hear(event);
  }
}

const reloads = returnToPlace();
await loadLook();
const preview = new Preview();
preview.updates.start(reloads);
listen((event) => preview.hear(event));
