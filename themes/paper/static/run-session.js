// One Python for the page, in a worker. Each session of the post has its own names in it. A block runs after those
// of its session that stand before it, so that its names are there.

const WAIT_MS = 150;
const LIMIT_S = 30;
// How Python, NumPy and torch write it.
const TRUTHS = new Set(["True", "np.True_", "array(True)", "tensor(True)"]);
const LOST = "What ran so far is forgotten; the next run starts anew.";

// in the language of the page
const words = JSON.parse(document.querySelector("script[data-words]")?.textContent ?? "{}");
const t = (text, values = {}) => (words[text] ?? text).replace(/\{(\w+)\}/g, (place, name) => values[name] ?? place);
const make = (name, properties) => Object.assign(document.createElement(name), properties);
const lasted = (s) => (s < 1 ? `${Math.max(1, Math.round(s * 1000))} ms` : `${s.toFixed(1)} s`);

let worker;
let isReady = false;
// what waits for the end of the block that runs
let current;
let isBusy = false;
const ran = new Map();

// Whether the names of a block are there as its code now says.
const isFresh = (block) => ran.get(block) === block.field.value;

// Run, or Stop while something runs.
export async function press(block, page) {
  if (isBusy) {
    // the second half of a double click on Run means nothing
    if (block.button.dataset.state === "stop") current?.end({ event: "stopped" });
    return;
  }
  isBusy = true;
  const others = page.blocks.filter((other) => other !== block).map((other) => other.button);
  const buttons = [...others, ...page.blocks.map((each) => each.reset)];
  const show = (state, text, off) => {
    block.button.dataset.state = state;
    block.button.textContent = text;
    for (const button of buttons) button.disabled = off;
  };
  // what is over at once need not flicker
  const soon = setTimeout(show, isReady ? WAIT_MS : 0, "stop", t("Stop"), true);
  try {
    await runAll(due(block, page.blocks), block, page);
  } finally {
    clearTimeout(soon);
    show("run", t("Run"), false);
    isBusy = false;
  }
}

// The blocks to run: from the first of the session whose names are not there.
function due(target, blocks) {
  const session = blocks.filter((block) => (block.data.session ?? "main") === (target.data.session ?? "main"));
  const until = session.slice(0, session.indexOf(target) + 1);
  const first = until.findIndex((block) => !isFresh(block));
  // what comes later may rest on what runs now
  for (const block of session.slice(until.length)) ran.delete(block);
  return first < 0 ? [target] : until.slice(first);
}

async function runAll(todo, target, page) {
  for (const block of todo) {
    const code = block.field.value;
    const ending = await run(block, code, target, page);
    const isExpected = block.data.error === "true" && !block.isEdited;
    const isDone = ending.event === "done" && (ending.status === "ok" || isExpected);
    if (isDone) ran.set(block, code);
    if (isDone || block === target) continue;
    target.say(t("Not run: a block before it did not come to its end."));
    return;
  }
}

async function run(block, code, target, page) {
  block.recorded ??= recordedBehind(block.box);
  const showing = new Showing(block, target, page.output);
  const ending = await new Promise((resolve) => {
    current = { end: resolve, hear: (message) => hear(block, showing, message) };
    worker ??= hire(page);
    if (!isReady) showing.load(t("Loading Python…"));
    const { pyodide, packages = "", session = "main", file = "", line = 1, seed } = block.data;
    worker.postMessage({
      code,
      session,
      line: Number(line),
      // places in edited code are none of the post
      file: block.isEdited ? "" : file,
      seed: seed === undefined ? undefined : Number(seed),
      packages: packages.split(" ").filter(Boolean),
      pyodide: new URL(pyodide, document.baseURI).href,
      harness: page.harness,
    });
  });
  clearTimeout(current.timer);
  current = undefined;
  // only a worker that said so itself still has its state
  if (ending.event !== "done" && (ending.event !== "failed" || ending.isLost)) dismiss();
  showing.end(ending);
  return ending;
}

function hire(page) {
  // nothing shall move when words go away
  const heights = page.blocks.map((block) => block.bar.offsetHeight);
  page.blocks.forEach((block, number) => {
    block.bar.style.minHeight = `${heights[number]}px`;
    // whoever presses Run has read what it loads
    if (!block.shown) block.say("");
  });
  const hired = new Worker(page.worker, { type: "module", name: "Python" });
  hired.addEventListener("message", ({ data }) => hired === worker && current?.hear(data));
  hired.addEventListener("error", ({ message }) => {
    const why = message ?? t("Cannot load {file}", { file: page.worker });
    if (hired === worker) current?.end({ event: "failed", why, isLost: true });
  });
  return hired;
}

function dismiss() {
  worker?.terminate();
  worker = undefined;
  isReady = false;
  ran.clear();
}

function hear(block, showing, message) {
  const { event } = message;
  if (event === "progress") showing.measure(message);
  else if (event === "phase") showing.load(`${message.words}…`);
  else if (event === "start") {
    isReady = true;
    showing.start();
    const limit_s = Number(block.data.timeout ?? LIMIT_S);
    current.timer = setTimeout(current.end, limit_s * 1000, { event: "late", limit_s });
  } else if (["done", "failed", "broken"].includes(event)) current.end(message);
  else showing.output(message);
}

// What a cell of the build gave, with the line that says where.
function recordedBehind(box) {
  const around = box.parentElement.matches(".cell") ? [...box.parentElement.children] : [];
  return around.slice(around.indexOf(box) + 1);
}

// What a reader sees of the run of one block; what is loaded for it is told where Run was pressed.
class Showing {
  constructor(block, target, output) {
    this.block = block;
    this.target = target;
    this.module = output;
    const images = block.recorded.flatMap((element) => [...element.querySelectorAll("img")]);
    this.outputs = new output.Outputs(images, [...document.querySelectorAll(".runnable")].indexOf(block.box) + 1);
  }

  load(text) {
    this.target.say(text);
    if (this.meter) return;
    this.meter = make("span", { className: "run-meter" });
    this.progress = make("progress", { ariaLabel: t("Loading") });
    this.amount = make("span", { ariaHidden: "true" });
    this.meter.append(this.progress, this.amount);
    this.target.bar.insertBefore(this.meter, this.target.status);
  }

  // From the CDN files come packed: there the share of unpacked bytes stands for that of the known sum.
  measure({ done, total }) {
    if (!this.meter) return;
    const isAll = done >= total;
    const size = this.block.isOwn || isReady ? total : this.block.data.bytes;
    const of = (share) => ((share * size) / 1e6).toFixed(1);
    if (isAll) this.progress.removeAttribute("value");
    else this.progress.value = done / total;
    this.amount.textContent = size && !isAll ? t("{done} of {total} MB", { done: of(done / total), total: of(1) }) : "";
    if (isAll && !isReady) this.target.say(t("Starting Python…"));
  }

  start() {
    this.unload();
    this.soon = setTimeout(() => this.block.say(t("Running…")), WAIT_MS);
  }

  unload() {
    if (this.meter && this.target !== this.block) this.target.say("");
    this.meter?.remove();
    this.meter = undefined;
    clearTimeout(this.soon);
  }

  // The first output takes the place of the last run's, and of the recorded one, which is folded away.
  output(message) {
    const { warning, claim } = this.block.data;
    if (message.name === "stderr" && warning === "false") return;
    this.show();
    this.outputs.take(message);
    // a build tells it in words, so there is nothing to compare it with
    if (message.kind !== "value" || !claim) return;
    const shown = this.outputs.place.lastChild;
    shown.dataset.truth = "";
    this.isTrue = TRUTHS.has(shown.textContent.trim());
  }

  show() {
    const { block, outputs } = this;
    if (block.shown === outputs) return;
    block.shown?.remove();
    block.shown = outputs;
    block.box.append(outputs.place);
    block.reset.hidden = false;
    if (block.fold || !block.recorded.length) return;
    block.fold = make("details", { className: "collapsible run-recorded" });
    block.fold.append(make("summary", { textContent: t("Recorded output") }), ...block.recorded);
    block.box.after(block.fold);
  }

  end(ending) {
    this.unload();
    if (ending.event === "done") this.show();
    this.outputs.end();
    this.block.say(this.inWords(ending));
  }

  inWords({ event, status, seconds, why, limit_s }) {
    const { block, module, outputs } = this;
    if (event === "stopped") return `${t("Stopped.")} ${t(LOST)}`;
    if (event === "late") return `${t("Stopped after {seconds} s, the limit of this page.", { seconds: limit_s })} ${t(LOST)}`;
    if (event === "broken") return `${t("Python broke down: {reason}.", { reason: why })} ${t(LOST)}`;
    if (event === "failed") return `${why}. ${t("Run tries again.")}`;
    // the mark above is of the build; what a reader's Python finds must not seem to agree with it
    if (status === "ok" && block.data.claim && !this.isTrue) return t("Here the claim is not found true");
    const match = block.isEdited ? "" : module.compared(block.recorded, outputs.place);
    return match || (status === "ok" ? t("Ran in {duration}", { duration: lasted(seconds) }) : t("Ended with an error"));
  }
}
