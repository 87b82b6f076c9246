// Comments in a frame of the service that keeps them, on a click; until then nothing leaves the page.

// both services come back to the page with a name for the reader in its address
function session(provider) {
  const url = new URL(location.href);
  const key = `${provider}-session`;
  const given = url.searchParams.get(provider);
  try {
    if (given) localStorage[key] = given;
    return { value: given ?? localStorage[key] ?? "", given };
  } catch {
    return { value: given ?? "", given };
  } finally {
    if (given) {
      url.searchParams.delete(provider);
      history.replaceState(history.state, "", url);
    }
  }
}

function isDark() {
  const { theme, scheme } = document.documentElement.dataset;
  const chosen = theme ?? scheme ?? "auto";
  return chosen === "auto" ? matchMedia("(prefers-color-scheme: dark)").matches : chosen === "dark";
}

function frame(block, value) {
  const { frameUrl, provider, title } = block.dataset;
  const url = new URL(frameUrl);
  const page = location.origin + location.pathname;
  const asked = provider === "giscus"
    ? { origin: page, backLink: page, theme: isDark() ? "dark" : "light", description: document.title }
    : { origin: location.origin, url: page, title: document.title, theme: isDark() ? "github-dark" : "github-light" };
  for (const [name, given] of Object.entries({ ...asked, session: value })) url.searchParams.set(name, given);
  const made = document.createElement("iframe");
  Object.assign(made, { className: "comments-frame", title, referrerPolicy: "strict-origin-when-cross-origin" });
  made.setAttribute("sandbox", "allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation");
  addEventListener("message", ({ origin, source, data }) => {
    if (origin !== url.origin || source !== made.contentWindow) return;
    const height = Number(data?.giscus?.resizeHeight ?? (data?.type === "resize" ? data.height : 0));
    if (height > 0) made.style.height = `${Math.min(height, 50_000)}px`;
  });
  made.src = url.href;
  return made;
}

function load(block, ask, value) {
  const made = frame(block, value);
  ask.remove();
  block.append(made);
  made.focus();
}

function start() {
  for (const ask of document.querySelectorAll(".comments-load[hidden]")) {
    const block = ask.closest(".comments");
    const { value, given } = session(block.dataset.provider);
    ask.hidden = false;
    ask.addEventListener("click", () => load(block, ask, value));
    // back from signing in, which they did in these comments
    if (given) load(block, ask, value);
  }
}

start();
document.addEventListener("blogsmith:update", start);
