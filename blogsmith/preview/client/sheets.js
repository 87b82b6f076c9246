// Style sheets change without a moment in which the page has none: the new one is loaded beside the old one, which
// goes when the new one is there.

import { decoded } from "./page.js";

const PATIENCE_MS = 1000;

const sheets = () => document.querySelectorAll("link[rel~=stylesheet]");
const successors = new WeakMap();
const predecessors = new WeakMap();

// The link that stands for this one now.
function latest(link) {
  let last = link;
  while (successors.has(last)) last = successors.get(last);
  return last;
}

function loaded(link) {
  return new Promise((resolve) => {
    link.addEventListener("load", () => resolve(true), { once: true });
    link.addEventListener("error", () => resolve(false), { once: true });
  });
}

export class Sheets {
  waiting = [];

  // Gives the new link.
  swap(link, href) {
    const old = latest(link);
    if (old.getAttribute("href") === href) return old;
    const made = old.cloneNode();
    const isLoaded = loaded(made);
    made.href = href;
    successors.set(old, made);
    predecessors.set(made, old);
    isLoaded.then((isGood) => {
      // also those that could not be loaded, or are slower than this one
      let before = predecessors.get(made);
      while (isGood && before) {
        before.remove();
        before = predecessors.get(before);
      }
      performance.mark("blogsmith:styled");
    });
    old.after(made);
    return made;
  }

  remove(link) {
    if (link) latest(link).remove();
    link?.remove();
  }

  // A sheet that was not there before: what it styles is not shown without it.
  await(link) {
    const patience = new Promise((resolve) => setTimeout(resolve, PATIENCE_MS));
    this.waiting.push(Promise.race([loaded(link), patience]));
  }

  ready() {
    return Promise.all(this.waiting.splice(0));
  }

  // Path → its new version, for sheets that this page has.
  renew(versions) {
    for (const link of sheets()) {
      const { pathname } = new URL(link.href);
      const version = Object.entries(versions).find(([path]) => decoded(path) === decoded(pathname))?.[1];
      if (version === undefined || successors.has(link)) continue;
      this.swap(link, `${link.getAttribute("href").replace(/[?#].*/, "")}?v=${version}`);
    }
  }
}
