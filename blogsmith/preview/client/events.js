// What the server has to say to this tab: by way of the worker that all tabs share, or, in a browser that has no
// such workers, by a connection of the tab's own while it is looked at.

import { follow } from "./stream.js";

function share(hear) {
  const connect = () => {
    const worker = new SharedWorker(new URL("shared-events.js", import.meta.url), { type: "module", name: "blogsmith" });
    worker.port.onmessage = ({ data }) => hear(data);
    worker.onerror = () => followWhileSeen(hear);
    addEventListener("pagehide", () => worker.port.postMessage("bye"), { once: true });
  };
  connect();
  // back from the browser's history, where pages sleep
  addEventListener("pageshow", ({ persisted }) => persisted && connect());
}

function followWhileSeen(hear) {
  let close;
  const adjust = () => {
    if (!document.hidden) close ??= follow(hear);
    else {
      close?.();
      close = undefined;
    }
  };
  document.addEventListener("visibilitychange", adjust);
  adjust();
}

export function listen(hear) {
  if (globalThis.SharedWorker) share(hear);
  else followWhileSeen(hear);
}
