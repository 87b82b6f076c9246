// Brings this page up to date: fetches it, and changes what the server changed.

import { freshen } from "./files.js";
import { Merge } from "./merge.js";
import { tag } from "./page.js";
import { keepPlace, reload, reveal } from "./scrolling.js";
import { Served, takePlaces } from "./served.js";

const PROGRAM = /^(|module|importmap|speculationrules|(text|application)\/(java|ecma)script)$/i;
const OK = 200;
const GONE = 404;
const MOST_RELOADS = 5;

async function load() {
  const answer = await fetch(location.pathname + location.search, { cache: "no-store" });
  const isPage = answer.headers.get("Content-Type")?.startsWith("text/html");
  if (answer.redirected) location.replace(answer.url);
  if (!isPage || answer.redirected) return undefined;
  return { status: answer.status, html: new DOMParser().parseFromString(await answer.text(), "text/html") };
}

const versionOf = (html) => html.querySelector("script[data-blogsmith]")?.dataset.version;

// Scripts ran, and cannot be taken back; where a page refreshes itself or moves its base, only a load will do.
function bindings(html) {
  const programs = [...html.querySelectorAll("script:not([data-blogsmith])")].filter(({ type }) => PROGRAM.test(type));
  const others = html.querySelectorAll("base, meta[http-equiv]");
  return [...programs, ...others].map((element) => element.outerHTML).join("\n");
}

export class Updates {
  isBusy = false;
  isDue = false;
  // the line that was edited last, if its block was not yet shown
  line = undefined;

  // sheets: the page's style sheets. after(isGone): called after each update.
  constructor(sheets, after) {
    this.sheets = sheets;
    this.after = after;
  }

  // What the page was made from has to be known before anything of it can change. reloads: our own, in a row; each
  // may have come just before a save, but a page that is never twice the same is not loaded for ever.
  async start(reloads) {
    this.isBusy = true;
    try {
      const first = await load();
      if (first) {
        this.status = first.status;
        if (versionOf(first.html) !== tag.dataset.version && reloads < MOST_RELOADS) reload();
        else this.served = new Served(first.html);
        performance.mark("blogsmith:ready");
      }
    } catch {
      // the server is gone; when it is back, the page is loaded again
    } finally {
      this.isBusy = false;
    }
    if (this.isDue) await this.update();
  }

  // Asks for the page until nothing has changed since it was asked for.
  async update(line = this.line) {
    this.line = line;
    this.isDue = true;
    if (this.isBusy) return;
    this.isBusy = true;
    try {
      while (this.isDue) {
        this.isDue = false;
        await this.once();
      }
    } catch {
      // no connection: the next hello asks again
    } finally {
      this.isBusy = false;
    }
  }

  async once() {
    const next = await load();
    if (!next) return;
    const { status, html } = next;
    if (status !== OK && status !== this.status) {
      // the last good page stays
      this.after(status === GONE);
      return;
    }
    this.status = status;
    if (!this.served || bindings(this.served.html) !== bindings(html)) {
      reload();
      return;
    }
    try {
      await this.show(html);
    } catch (error) {
      console.warn("blogsmith: reloading the page, because it could not be updated:", error);
      reload();
    }
  }

  async show(html) {
    const { served, sheets } = this;
    const merge = new Merge(served, sheets);
    const places = takePlaces(html);
    const both = (name) => [served.html[name], html[name], document[name]];
    merge.element(...both("head"));
    await sheets.ready();
    keepPlace(() => {
      merge.attributes(...both("documentElement"));
      merge.element(...both("body"));
      served.givePlaces(places, html);
      merge.added.forEach(freshen);
      // scripts of the page serve what is new
      if (merge.added.length) document.dispatchEvent(new Event("blogsmith:update"));
    });
    if (merge.added.some((element) => element.isConnected && served.isMissed(element))) {
      reload();
      return;
    }
    this.after(false);
    if (this.line !== undefined) reveal(this.line);
    this.line = undefined;
    performance.mark("blogsmith:updated");
  }
}
