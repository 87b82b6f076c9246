// Cells that run: a line at each of them says since when, and below it stands what they print. The results come
// with the page's next update, and the line goes.

import { make, shadowed } from "./interface.js";
import { act, isThisPage } from "./page.js";
import { Printed } from "./printed.js";

const TICK_MS = 500;
const WAIT_MS = 1500;
// elements that a line can stand in; behind all others it stands outside
const ROOMY = "div, section, article, aside, li, td, blockquote, details";

const seconds = (value) => (value < 10 ? `${value.toFixed(1)} s` : `${Math.round(value)} s`);

async function ask(name, say) {
  try {
    await act(name, { page: location.pathname });
  } catch (error) {
    say(`The action failed: ${error.message}`);
  }
}

class Cell {
  printed = new Printed();
  state = "queued";

  constructor(number, say) {
    this.number = number;
    const { element, shadow } = shadowed("blogsmith-cell");
    this.element = element;
    this.words = make("span");
    this.stop = make("button", { type: "button", textContent: "Stop", onclick: () => ask("stop", say) });
    this.again = make("button", { type: "button", textContent: "Run again", onclick: () => ask("run", say), hidden: true });
    this.output = make("pre", { tabIndex: 0, ariaLabel: `Output of cell ${number}`, hidden: true });
    this.output.role = "region";
    this.problem = make("p", { className: "problem", hidden: true });
    this.box = make("div", { className: "cell" }, make("p", {}, this.words, this.stop, this.again), this.output);
    this.box.append(this.problem);
    shadow.append(this.box);
  }

  get isBusy() {
    return this.state === "queued" || this.state === "started";
  }

  get isGood() {
    return this.problem.hidden;
  }

  hear({ state, text, seconds: lasted, problem, after }) {
    if (state === "output") this.print(text);
    else {
      this.state = state;
      if (state === "started") {
        this.since = performance.now();
        this.after = after ? `, resumed after cell ${after}` : "";
      }
      if (state === "ended") this.lasted = lasted;
      if (text) this.print(text);
      this.problem.textContent = problem ?? "";
      this.problem.hidden = !problem;
    }
    this.tell();
  }

  print(text) {
    const { output } = this;
    const isAtEnd = output.scrollTop + output.clientHeight >= output.scrollHeight - 2;
    this.printed.add(text);
    // a text node that stays keeps what is selected elsewhere in peace
    output.firstChild ? (output.firstChild.data = this.printed.text) : output.append(this.printed.text);
    output.hidden = false;
    if (isAtEnd) output.scrollTop = output.scrollHeight;
  }

  tell() {
    const lasts = this.since === undefined ? "" : seconds((performance.now() - this.since) / 1000);
    const words = {
      queued: "waiting to run",
      started: `running ${lasts}${this.after ?? ""}`,
      ended: this.lasted === undefined ? "ran" : `ran in ${seconds(this.lasted)}`,
      stopped: "stopped",
    };
    const text = words[this.state];
    if (this.words.textContent !== text) this.words.textContent = text;
    this.box.dataset.state = this.state;
    this.stop.hidden = !this.isBusy;
    this.again.hidden = this.state !== "stopped";
  }

  place() {
    const block = document.querySelector(`[data-cell="${this.number}"]`);
    if (!block) this.element.remove();
    else if (!block.matches(ROOMY)) block.nextSibling === this.element || block.after(this.element);
    else if (this.element.parentNode !== block) block.append(this.element);
  }
}

export class Cells {
  cells = new Map();

  constructor(face, badge) {
    this.face = face;
    this.badge = badge;
    this.say = (text) => face.say(text);
  }

  // What runs as the connection begins.
  start(events) {
    this.clear(() => true);
    for (const event of events) this.hear(event);
    this.summarise();
  }

  hear(event) {
    if (!isThisPage(event.page)) return;
    const { state, done, total } = event;
    if (done !== undefined) this.progress = { done, total };
    if (event.cell === undefined || event.cell === null) this.hearOfPage(event);
    else {
      const old = this.cells.get(event.cell);
      // it runs anew: what it printed before is no longer true
      const isAnew = !old || (!old.isBusy && (state === "queued" || state === "started"));
      if (isAnew) this.add(event.cell);
      this.cells.get(event.cell).hear(event);
    }
    this.summarise();
  }

  hearOfPage({ state, problem }) {
    if (state === "stopped") {
      for (const cell of this.cells.values()) if (cell.isBusy) cell.hear({ state });
      this.face.announce("Cells stopped");
    } else if (state === "finished") {
      this.face.announce(problem ? `Cells ran: ${problem}` : "Cells ran");
      // new results bring an update; if all is as it was, none comes. What failed is not in the page.
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.settle((cell) => cell.isGood), WAIT_MS);
    } else return;
    this.progress = undefined;
  }

  add(number) {
    this.cells.get(number)?.element.remove();
    const cell = new Cell(number, this.say);
    this.cells.set(number, cell);
    cell.place();
    this.ticking ??= setInterval(() => this.tick(), TICK_MS);
    clearTimeout(this.timer);
  }

  tick() {
    const busy = [...this.cells.values()].filter(({ isBusy }) => isBusy);
    for (const cell of busy) cell.tell();
    if (busy.length) return;
    clearInterval(this.ticking);
    this.ticking = undefined;
  }

  clear(isOver) {
    for (const [number, cell] of this.cells) {
      if (!isOver(cell)) continue;
      cell.element.remove();
      this.cells.delete(number);
    }
  }

  // The page has been updated: what ended is in it, what runs stands at its cell again. isShown: whether a cell that
  // ended is in it.
  settle(isShown = () => true) {
    this.clear((cell) => cell.state === "ended" && isShown(cell));
    for (const cell of this.cells.values()) cell.place();
  }

  summarise() {
    const busy = [...this.cells.values()].filter(({ isBusy }) => isBusy).length;
    if (!busy) return this.badge.set("running");
    const { done, total } = this.progress ?? {};
    const text = total ? `running, ${done} of ${total} cells done` : "running cells";
    if (this.summary?.isConnected) return (this.summary.firstChild.data = text);
    const stop = make("button", { type: "button", textContent: "Stop", onclick: () => ask("stop", this.say) });
    this.summary = make("span", {}, text, stop);
    this.badge.set("running", this.summary);
  }
}
