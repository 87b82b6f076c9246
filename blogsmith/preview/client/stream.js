// The server's events, one after the other. EventSource connects again by itself, unless it was refused.

const AGAIN_MS = 1000;

export function follow(hear) {
  let source;
  let timer;
  const open = () => {
    source = new EventSource(new URL("events", import.meta.url));
    source.onmessage = ({ data }) => hear(JSON.parse(data));
    source.onerror = () => {
      hear({ kind: "lost" });
      if (source.readyState === EventSource.CLOSED) timer = setTimeout(open, AGAIN_MS);
    };
  };
  open();
  return () => {
    clearTimeout(timer);
    source.close();
  };
}
