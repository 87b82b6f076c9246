// The corner in which the preview says in a few words what there is to say, and nothing otherwise.

import { make } from "./interface.js";

const ORDER = ["lost", "gone", "running", "errors", "warnings", "edit"];

export class Badge {
  constructor(face) {
    this.parts = new Map();
    this.box = make("section", { className: "badge", ariaLabel: "Preview" }, face.said);
    face.shadow.append(this.box);
  }

  // Puts an element into its place, or takes out what is there.
  set(name, element) {
    const old = this.parts.get(name);
    const hadFocus = old && old.getRootNode().activeElement === old;
    old?.remove();
    this.parts.delete(name);
    if (!element) return;
    element.classList.add(name);
    const next = ORDER.slice(ORDER.indexOf(name) + 1).find((other) => this.parts.has(other));
    this.box.insertBefore(element, this.parts.get(next) ?? null);
    this.parts.set(name, element);
    if (hadFocus) element.focus();
  }

  setText(name, text) {
    const old = this.parts.get(name);
    if (old?.textContent !== text) this.set(name, text && make("span", { textContent: text }));
  }

  focus(name) {
    this.parts.get(name)?.focus();
  }
}
