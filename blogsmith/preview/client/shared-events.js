// One stream of events for all tabs: a browser keeps six connections to a host, so one for each tab would soon
// leave none for pages. This runs as a SharedWorker. A tab that comes later is told what the stream's own hello
// would say now.

import { follow } from "./stream.js";

const OUTPUT_CHARACTERS = 100_000;

const ports = new Set();
const running = new Map();
let hello;

const nameOf = ({ page, session, cell }) => JSON.stringify([page, session ?? "", cell ?? 0]);

function rememberRun(event) {
  const name = nameOf(event);
  const known = running.get(name);
  if (event.state === "output") {
    const text = ((known?.text ?? "") + event.text).slice(-OUTPUT_CHARACTERS);
    running.set(name, { ...known, ...event, text });
  } else if (event.state === "ended") running.delete(name);
  else if (event.state === "queued" || event.state === "started") running.set(name, event);
  else {
    const isOver = (other) => other.page === event.page && (!event.session || other.session === event.session);
    for (const [key, other] of running) if (isOver(other)) running.delete(key);
  }
}

function remember(event) {
  if (event.kind === "lost") hello = undefined;
  else if (event.kind === "hello") {
    hello = event;
    running.clear();
    event.running?.forEach(rememberRun);
  } else if (event.kind === "problems" && hello) hello = { ...hello, problems: event };
  else if (event.kind === "run") rememberRun(event);
}

follow((event) => {
  remember(event);
  for (const port of ports) port.postMessage(event);
});

addEventListener("connect", ({ ports: [port] }) => {
  ports.add(port);
  // the only thing a tab says is that it goes
  port.onmessage = () => ports.delete(port);
  if (hello) port.postMessage({ ...hello, running: [...running.values()] });
});
