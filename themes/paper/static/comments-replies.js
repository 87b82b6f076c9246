// Replies to a post at Mastodon or Bluesky, on a click; until then nothing leaves the page. What strangers wrote is built
// anew from the few elements below; no markup of theirs is used.

const LIMIT_MS = 15_000;
const MOST_BYTES = 2_000_000;
const MOST = 300;
const DEEPEST = 6;
const ELEMENTS = /^(?:p|br|em|strong|b|i|del|code|pre|blockquote|ul|ol|li)$/;
// the last one is the part of an address that Mastodon hides
const DROPPED = "script, style, template, iframe, object, svg, math, textarea, title, noscript, .invisible";

const make = (name, cls, ...children) => {
  const made = document.createElement(name);
  if (cls) made.className = cls;
  made.append(...children);
  return made;
};

function link(address, ...children) {
  const url = URL.canParse(address) && new URL(address);
  if (!/^https?:$/.test(url.protocol)) return make("span", "", ...children);
  return Object.assign(make("a", "", ...children), { href: url.href, rel: "nofollow noopener ugc" });
}

// the nodes of a comment, made anew
function* clean(node, depth = 0) {
  for (const child of node.childNodes) {
    if (child.nodeType === 3) yield child.data;
    if (child.nodeType !== 1 || child.matches(DROPPED) || depth > 20) continue;
    const inner = [...clean(child, depth + 1)];
    if (child.localName === "a") yield link(child.getAttribute("href"), ...inner);
    else if (ELEMENTS.test(child.localName)) yield make(child.localName, "", ...inner);
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

function entry(one) {
  const time = make("time", "");
  const date = new Date(one.date);
  if (+date) {
    time.dateTime = date.toISOString();
    time.append(date.toLocaleDateString(document.documentElement.lang, { dateStyle: "medium" }));
  }
  const body = make("div", "comment-text", ...one.body());
  const name = make("span", "comment-name", link(one.address, String(one.name).slice(0, 100)));
  // in a language that nobody knows
  body.dir = name.dir = "auto";
  const text = one.warning ? make("details", "", make("summary", "", String(one.warning)), body) : body;
  return make("li", "comment", make("p", "comment-head", name, " ", link(one.url, time)), text);
}

function list(found) {
  const all = make("ol", "comment-list");
  const lists = new Map();
  for (const one of found.slice(0, MOST)) {
    const made = entry(one);
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

async function load(block, ask) {
  const { none, failed, loading } = block.dataset;
  ask.disabled = true;
  const status = block.querySelector("[role=status]");
  status.textContent = loading;
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
  for (const ask of document.querySelectorAll(".comments-load[hidden]")) {
    ask.hidden = false;
    ask.addEventListener("click", () => load(ask.closest(".comments"), ask));
  }
}

start();
document.addEventListener("blogsmith:update", start);
