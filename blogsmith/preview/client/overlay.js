// What is wrong with the site, over the lower part of the last good page. All text comes from files and is shown as
// text.

import { make } from "./interface.js";
import { isThisPage } from "./page.js";

const counted = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

function counts({ errors = 0, warnings = 0 }) {
  return [errors && counted(errors, "error"), warnings && counted(warnings, "warning")].filter(Boolean).join(", ");
}

// The terminal's text without its first line, which says what stands above it here.
const quotation = ({ text = "", where }) => (text.startsWith(where) ? text.replace(/^.*\n?/, "") : text).trimEnd();

export class Overlay {
  problems = { errors: 0, warnings: 0, items: [] };

  constructor(face, badge, editor) {
    Object.assign(this, { face, badge, editor });
    this.title = make("p", { id: "title" });
    this.list = make("ol");
    const close = make("button", { type: "button", textContent: "Close", onclick: () => this.close() });
    this.box = make("dialog", { className: "problems" }, make("div", { className: "head" }, this.title, close), this.list);
    this.box.setAttribute("role", "alertdialog");
    this.box.setAttribute("aria-labelledby", "title");
    face.shadow.append(this.box);
    document.addEventListener("keydown", (event) => {
      const isTaken = event.defaultPrevented || document.querySelector("dialog:modal, [popover]:popover-open");
      if (event.key === "Escape" && this.box.open && !isTaken) this.close();
    });
  }

  // The whole present state. isFirst: as it was found, so that only what concerns this page opens by itself.
  show(problems, isFirst) {
    this.problems = problems;
    const { errors, warnings, items } = problems;
    const isHere = ({ pages }) => !pages?.length || pages.some(isThisPage);
    // told again after a broken connection, it calls nobody again
    const said = JSON.stringify(items.map(({ severity, where, message }) => [severity, where, message]));
    const isNews = said !== this.said;
    this.said = said;
    const calls = items.some(
      (item) => isNews && item.severity === "error" && (isFirst ? isHere(item) : item.new),
    );
    this.badge.set("errors", errors && this.opener(counted(errors, "error")));
    this.badge.set("warnings", warnings && this.opener(counted(warnings, "warning")));
    if (calls && !this.box.open) this.open();
    else if (!errors && !(this.box.open && warnings && this.isAsked)) this.close();
    else if (this.box.open) this.fill();
    if (calls) this.announce(items);
    else if (!errors && this.wasWrong) this.face.announce("No errors");
    this.wasWrong = errors > 0;
  }

  announce(items) {
    const [first] = items.filter(({ severity }) => severity === "error");
    this.face.announce(`${counts(this.problems)}. ${first.where}: ${first.message}`, true);
  }

  opener(text) {
    const button = make("button", { type: "button", textContent: text, ariaHasPopup: "dialog" });
    button.addEventListener("click", () => {
      this.isAsked = true;
      this.open();
      this.box.querySelector(".head button").focus();
    });
    return button;
  }

  // dialog.show() would take the focus from where the author types; the attribute alone does not.
  open() {
    this.fill();
    this.box.open = true;
  }

  close() {
    const hadFocus = this.box.contains(this.face.shadow.activeElement);
    this.box.open = false;
    this.isAsked = false;
    if (hadFocus) this.badge.focus(this.problems.errors ? "errors" : "warnings");
  }

  fill() {
    const isError = ({ severity }) => severity === "error";
    const { items, errors } = this.problems;
    this.title.textContent = counts(this.problems);
    this.box.dataset.severity = errors ? "error" : "warning";
    const sorted = [...items.filter(isError), ...items.filter((item) => !isError(item))];
    this.list.replaceChildren(...sorted.map((item) => this.entry(item)));
    // the server sends the first hundred
    const more = errors + this.problems.warnings - items.length;
    if (more > 0) this.list.append(make("li", { textContent: `And ${more} more.` }));
  }

  entry(item) {
    const severity = make("span", { className: "severity", textContent: item.severity });
    const code = make("span", { className: "code", textContent: item.code ? `[${item.code}]` : "" });
    const place = item.path
      ? this.editor.control(item, { className: "place", textContent: item.where })
      : make("span", { textContent: item.where ?? "" });
    const quoted = quotation(item);
    const head = make("p", {}, severity, " ", place);
    const entry = make("li", { data: { severity: item.severity } }, head, make("p", {}, item.message, " ", code));
    // what is wider than the window is scrolled with the keyboard, too
    if (quoted) entry.append(make("pre", { textContent: quoted, tabIndex: 0 }));
    return entry;
  }
}
