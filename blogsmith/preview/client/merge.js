// Makes the page what the server now says it is: what differs between the HTML of before and of now is changed,
// and everything else, with all that scripts and readers did to it, is not even touched.

import { align } from "./align.js";
import { isPlace } from "./served.js";
import { Idiomorph } from "./vendor/idiomorph.esm.js";

const HTML = "http://www.w3.org/1999/xhtml";
const isText = (node) => node.nodeType === Node.TEXT_NODE && node.data.trim();
// Text with what stands in it, such as a paragraph. What holds blocks of its own is no piece.
const isPiece = (element) =>
  element.namespaceURI !== HTML || ([...element.childNodes].some(isText) && !element.querySelector("[data-line]"));
const isSheet = (node) => node.localName === "link" && node.relList.contains("stylesheet");

export class Merge {
  // served: what the page came from. sheets: adds, swaps and removes style sheets.
  constructor(served, sheets) {
    this.served = served;
    this.sheets = sheets;
    this.added = [];
  }

  element(sent, now, shown) {
    this.attributes(sent, now, shown);
    this.children(sent, now, shown);
  }

  children(sent, now, shown) {
    // the nodes that what comes next stands behind
    let [lastSent, last] = [undefined, undefined];
    for (const step of align([...sent.childNodes], [...now.childNodes])) {
      let live = step.was && this.served.live(step.was);
      if (!step.now) {
        this.remove(step.was, live);
        continue;
      }
      if (!step.was) live = this.insert(step.now, sent, shown, lastSent, last);
      else if (!step.isEqual) live = this.change(step.was, step.now, live);
      lastSent = step.was ?? this.served.source(live);
      if (live?.parentNode === shown) last = live;
    }
  }

  remove(sent, live) {
    sent.remove();
    if (isSheet(sent)) this.sheets.remove(live);
    else live?.remove();
  }

  insert(now, sent, shown, lastSent, last) {
    const copy = this.served.html.importNode(now, true);
    const made = document.importNode(now, true);
    if (lastSent) lastSent.after(copy);
    else sent.prepend(copy);
    if (last) last.after(made);
    else shown.prepend(made);
    if (isSheet(made)) this.sheets.await(made);
    this.served.pair(copy, made);
    if (made.nodeType === Node.ELEMENT_NODE) this.added.push(made);
    return made;
  }

  // One node into its next state; gives the node of the page.
  change(sent, now, live) {
    if (sent.nodeType !== Node.ELEMENT_NODE) {
      sent.data = now.data;
      if (live) live.data = now.data;
      return live;
    }
    if (!live) {
      this.become(sent, now);
      return live;
    }
    if (isSheet(sent)) return this.swapSheet(sent, now, live);
    if (!this.canBeChanged(sent, now, live)) return this.replace(sent, now, live);
    if (isPiece(sent) || isPiece(now)) this.piece(sent, now, live);
    else this.element(sent, now, live);
    return live;
  }

  // What was sent, whatever the page makes of it.
  become(sent, now) {
    this.attributes(sent, now);
    sent.replaceChildren(...this.served.html.importNode(now, true).childNodes);
  }

  swapSheet(sent, now, live) {
    const made = this.sheets.swap(live, now.getAttribute("href"));
    this.served.join(sent, made);
    this.attributes(sent, now, made);
    return made;
  }

  // A script that took a block apart keeps its own notes of it: such a block is made anew as a whole, in the
  // smallest element that knows its line. Scripts that only add to a block are not disturbed.
  canBeChanged(sent, now, live) {
    if (isPiece(sent) || isPiece(now)) return this.served.isUntouched(sent, live);
    if (this.served.isWhole(sent, live) || live.matches("head, body, main")) return true;
    return !live.matches("[data-line]") && live.querySelector("[data-line]") !== null;
  }

  replace(sent, now, live) {
    const made = document.importNode(now, true);
    keepFolds(live, made);
    this.become(sent, now);
    live.replaceWith(made);
    this.served.pair(sent, made);
    this.added.push(made);
    return made;
  }

  piece(sent, now, live) {
    this.attributes(sent, now, live);
    const content = [...now.cloneNode(true).childNodes];
    let next;
    Idiomorph.morph(live, content, {
      morphStyle: "innerHTML",
      callbacks: {
        beforeNodeMorphed: (_, node) => void (next = node),
        beforeAttributeUpdated: (name, element) => {
          // what scripts set stays, and so does what a reader typed
          const was = this.served.source(element);
          return !isPlace(name) && (!was || was.getAttribute(name) !== next.getAttribute(name));
        },
        afterNodeAdded: (node) => node.nodeType === Node.ELEMENT_NODE && this.added.push(node),
      },
    });
    this.become(sent, now);
    this.served.pair(sent, live);
  }

  attributes(sent, now, live) {
    for (const name of new Set([...sent.getAttributeNames(), ...now.getAttributeNames()])) {
      const [before, after] = [sent.getAttribute(name), now.getAttribute(name)];
      if (before === after || isPlace(name)) continue;
      if (live && name === "class") changeClasses(live, before ?? "", after ?? "");
      for (const element of name === "class" ? [sent] : [sent, live]) {
        if (after === null) element?.removeAttribute(name);
        // unlike setAttribute it keeps namespaces
        else element?.setAttributeNode(now.getAttributeNode(name).cloneNode());
      }
    }
  }
}

// Classes that scripts gave stay.
function changeClasses(live, before, after) {
  const [old, now] = [before, after].map((text) => text.split(/\s+/).filter(Boolean));
  live.classList.remove(...old.filter((name) => !now.includes(name)));
  live.classList.add(...now);
  if (!live.classList.length) live.removeAttribute("class");
}

function keepFolds(live, made) {
  const folds = (element) => [element, ...element.querySelectorAll("details")].filter((one) => one.open !== undefined);
  const [old, now] = [folds(live), folds(made)];
  if (old.length === now.length) old.forEach((fold, number) => (now[number].open = fold.open));
}
