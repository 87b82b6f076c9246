// Comments, on a click: a frame of the service that keeps them, or the replies to a post elsewhere. Until then nothing
// leaves the page. What strangers wrote is built anew from the few elements below; no markup of theirs is used.

const LIMIT_MS = 15_000;
const MOST_BYTES = 2_000_000;
const MOST = 300;
const DEEPEST = 6;
const ELEMENTS = new Set(["P", "BR", "EM", "STRONG", "B", "I", "DEL", "CODE", "PRE", "BLOCKQUOTE", "UL", "OL", "LI"]);
const DROPPED = new Set(["SCRIPT", "STYLE", "TEMPLATE", "IFRAME", "OBJECT", "SVG", "MATH", "TEXTAREA", "TITLE", "NOSCRIPT"]);

const make = (name, cls, ...children) => {
  const made = document.createElement(name);
  if (cls) made.className = cls;
  made.append(...children);
  return made;
};

const web = (address) => {
  try {
    const url = new URL(address);
    return url.protocol === "https:" || url.protocol === "http:" ? url.href : "";
  } catch {
    return "";
  }
};

function link(address, ...children) {
  const href = web(address);
  const made = make(href ? "a" : "span", "", ...children);
  if (href) Object.assign(made, { href, rel: "nofollow noopener ugc" });
  return made;
}

// the nodes of a comment, made anew
function* clean(node, depth = 0) {
  for (const child of node.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) yield child.data;
    if (child.nodeType !== Node.ELEMENT_NODE || DROPPED.has(child.nodeName.toUpperCase()) || depth > 20) continue;
    // the part of an address that Mastodon hides
    if (child.classList.contains("invisible")) continue;
    const inner = [...clean(child, depth + 1)];
    if (child.nodeName === "A") yield link(child.getAttribute("href"), ...inner);
    else if (ELEMENTS.has(child.nodeName)) yield make(child.nodeName.toLowerCase(), "", ...inner);
    else yield* inner;
  }
}

const fromHtml = (html) => [...clean(new DOMParser().parseFromString(String(html), "text/html").body)];

function fromText(text) {
  return String(text).split(/\n{2,}/).map((part) => make("p", "", part));
}

// each as {id, parent, name, address, url, date, warning, body}
const READ = {
  mastodon: (data) =>
    data.descendants.map((one) => ({
      id: one.id, parent: one.in_reply_to_id, name: one.account.display_name || one.account.acct,
      address: one.account.url, url: one.url, date: one.created_at, warning: one.spoiler_text, body: () => fromHtml(one.content),
    })),
  bluesky: (data) => {
    const found = [];
    const walk = (thread, parent) => {
      for (const one of thread.replies ?? []) {
        const post = one.post;
        if (!post?.record || found.length > MOST) continue;
        const profile = `https://bsky.app/profile/${post.author.did}`;
        found.push({
          id: post.uri, parent, name: post.author.displayName || post.author.handle, address: profile,
          url: `${profile}/post/${post.uri.split("/").pop()}`, date: post.record.createdAt, body: () => fromText(post.record.text),
        });
        walk(one, post.uri);
      }
    };
    walk(data.thread);
    return found;
  },
};

function entry(one, lang) {
  const date = new Date(one.date);
  const known = !Number.isNaN(+date);
  const time = make("time", "", known ? date.toLocaleDateString(lang, { dateStyle: "medium" }) : "");
  if (known) time.dateTime = date.toISOString();
  const body = make("div", "comment-text", ...one.body());
  // in a language that nobody knows
  body.dir = "auto";
  const name = make("span", "comment-name", link(one.address, String(one.name).slice(0, 100)));
  name.dir = "auto";
  const text = one.warning ? make("details", "", make("summary", "", String(one.warning)), body) : body;
  return make("li", "comment", make("p", "comment-head", name, " ", link(one.url, time)), text);
}

function list(found) {
  const all = make("ol", "comment-list");
  const lists = new Map();
  for (const one of found.slice(0, MOST)) {
    const made = entry(one, document.documentElement.lang);
    const above = lists.get(one.parent);
    const depth = above ? above.depth + 1 : 1;
    let place = all;
    if (above) place = depth > DEEPEST ? above.item.parentElement : (above.inner ??= above.item.appendChild(make("ol", "comment-list")));
    place.append(made);
    lists.set(one.id, { item: made, depth });
  }
  return all;
}

async function replies({ connectUrl, request, provider }) {
  const address = new URL(request, connectUrl);
  const answer = await fetch(address, {
    credentials: "omit", referrerPolicy: "no-referrer", redirect: "error", signal: AbortSignal.timeout(LIMIT_MS),
  });
  const text = answer.ok ? await answer.text() : "";
  if (!text || text.length > MOST_BYTES) throw new Error(`${answer.status}`);
  return READ[provider](JSON.parse(text));
}

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
  const made = make("iframe", "comments-frame");
  made.title = title;
  made.referrerPolicy = "strict-origin-when-cross-origin";
  made.setAttribute("sandbox", "allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation");
  addEventListener("message", ({ origin, source, data }) => {
    if (origin !== url.origin || source !== made.contentWindow) return;
    const height = Number(data?.giscus?.resizeHeight ?? (data?.type === "resize" ? data.height : 0));
    if (height > 0) made.style.height = `${Math.min(height, 50_000)}px`;
  });
  made.src = url.href;
  return made;
}

async function load(block, value) {
  const { frameUrl, none, failed } = block.dataset;
  const ask = block.querySelector(".comments-load");
  if (frameUrl) {
    const made = frame(block, value);
    ask.remove();
    block.append(made);
    made.focus();
    return;
  }
  ask.disabled = true;
  const status = block.querySelector("[role=status]");
  status.textContent = block.dataset.loading;
  try {
    const found = await replies(block.dataset);
    block.append(found.length ? list(found) : "");
    status.textContent = found.length ? "" : none;
    ask.remove();
    block.querySelector(".comment a")?.focus();
  } catch {
    status.textContent = failed;
    ask.disabled = false;
  }
}

function start() {
  for (const block of document.querySelectorAll(".comments")) {
    const ask = block.querySelector(".comments-load");
    if (!ask?.hidden) continue;
    const { value, given } = block.dataset.frameUrl ? session(block.dataset.provider) : {};
    ask.hidden = false;
    ask.addEventListener("click", () => load(block, value));
    // back from signing in, which they did in these comments
    if (given) load(block, value);
  }
}

start();
document.addEventListener("blogsmith:update", start);
