// Runs in every page before anything else does, and again after each reload: notes when what the benchmark
// waits for has been painted. What is wanted stands in the session storage, which outlives a reload.
(() => {
  if (window !== window.top || !location.protocol.startsWith("http")) return;
  const WANTED = "bench-wanted", LOADS = "bench-loads";
  sessionStorage[LOADS] = Number(sessionStorage[LOADS] ?? 0) + 1;

  const main = () => document.querySelector("main") ?? document.body;
  const inside = () => document.querySelector("blogsmith-live")?.shadowRoot ?? null;
  const overlay = () => {
    const shown = [...(inside()?.querySelectorAll("dialog, [role=alertdialog]") ?? [])];
    return shown.find((element) => element.checkVisibility());
  };
  const has = (text) => main()?.textContent.includes(text) ?? false;
  const conditions = {
    text: ({ value }) => has(value),
    style: ({ value, selector, property }) => {
      const element = document.querySelector(selector);
      return element !== null && getComputedStyle(element).getPropertyValue(property) === value;
    },
    overlay: ({ value }) => overlay()?.textContent.includes(value) ?? false,
    // of peers: anywhere, be it in place of the page
    error: ({ value }) => document.body?.textContent.includes(value) ?? false,
    fixed: ({ value }) => has(value) && !overlay(),
  };
  const EVERYTHING = { childList: true, subtree: true, characterData: true, attributes: true };

  let seen = null, asked = 0;
  let end = () => {};
  let told = [];

  function painted() {
    end();
    const answered = asked;
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => {
        if (answered !== asked) return;
        seen = performance.timeOrigin + performance.now();
        told.forEach((tell) => tell(seen));
        told = [];
      };
      channel.port2.postMessage(null);
    });
  }

  // A frame loop would be simpler, and would add up to a frame to every time.
  function watch(wanted) {
    end();
    seen = null;
    asked += 1;
    let root = null;
    const look = () => {
      // an observer of the document sees nothing below a shadow root
      if (root !== inside()) {
        root = inside();
        if (root) observer.observe(root, EVERYTHING);
      }
      if (conditions[wanted.kind](wanted)) painted();
    };
    const observer = new MutationObserver(look);
    end = () => {
      observer.disconnect();
      document.removeEventListener("load", look, true);
    };
    observer.observe(document, EVERYTHING);
    // of a style sheet
    document.addEventListener("load", look, true);
    look();
  }

  window.bench = {
    want(wanted) {
      sessionStorage[WANTED] = JSON.stringify(wanted);
      watch(wanted);
    },
    // milliseconds since 1970, or null after that many milliseconds
    seen: (patience) => seen !== null ? seen : new Promise((resolve) => {
      told.push(resolve);
      setTimeout(() => resolve(null), patience);
    }),
    loads: () => Number(sessionStorage[LOADS]),
  };
  if (sessionStorage[WANTED]) watch(JSON.parse(sessionStorage[WANTED]));
})();
