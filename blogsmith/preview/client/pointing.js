// From a block of the page to its line in the source: a click while Alt is held. While it is held the block below
// the pointer has an outline, so that authors find out.

import { make } from "./interface.js";
import { tag } from "./page.js";
import { topBlock } from "./scrolling.js";

const placeOf = (block) => ({ path: tag.dataset.source, line: Number(block?.dataset.line) || 1, column: 1 });

export class Pointing {
  constructor(face, badge, editor) {
    this.editor = editor;
    this.label = make("span");
    this.box = make("div", { className: "outline", hidden: true }, this.label);
    this.box.ariaHidden = "true";
    face.shadow.append(this.box);
    this.offer(badge);
    addEventListener("click", (event) => this.click(event), { capture: true });
    addEventListener("pointermove", (event) => this.point(event), { passive: true });
    addEventListener("keydown", (event) => event.key === "Alt" && this.outline(this.under));
    addEventListener("keyup", (event) => event.key === "Alt" && this.outline());
    addEventListener("blur", () => this.outline());
    addEventListener("scroll", () => this.outline(), { passive: true });
  }

  offer(badge) {
    const open = () => this.editor.open(placeOf(topBlock()));
    const button = make("button", { type: "button", textContent: "Edit", onclick: open });
    button.title = `Open ${tag.dataset.source}. Alt-click a block to open its line.`;
    badge.set("edit", tag.dataset.source && button);
  }

  click(event) {
    const block = event.altKey && event.button === 0 && this.blockOf(event.target);
    if (!block) return;
    event.preventDefault();
    event.stopPropagation();
    this.editor.open(placeOf(block));
  }

  blockOf(target) {
    return tag.dataset.source ? target?.closest?.("[data-line]") : undefined;
  }

  point({ target, altKey }) {
    this.under = this.blockOf(target);
    if (altKey || !this.box.hidden) this.outline(altKey ? this.under : undefined);
  }

  outline(block) {
    this.box.hidden = !block;
    if (!block) return;
    const { left, top, width, height } = block.getBoundingClientRect();
    Object.assign(this.box.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
    this.box.dataset.at = top < 20 ? "top" : "";
    this.label.textContent = `${tag.dataset.source}:${block.dataset.line}`;
  }
}
