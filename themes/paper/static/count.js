// Tells the host that the site has chosen of one visit, by its documented address for that: no script of another host
// runs here. Nothing is told of readers who ask not to be tracked, nor, where the site asks them, before they say yes.

const { provider, site, connectUrl, home } = document.querySelector("script[data-provider]").dataset;
const KEY = "counting";
const isRefused = navigator.globalPrivacyControl || navigator.doNotTrack === "1";
// the author's own look at the site is no visit
const isHere = location.host === home;

const BODY = {
  plausible: () => ["/api/event", { name: "pageview", domain: site, url: location.href, referrer: document.referrer || null }],
  umami: () => ["/api/send", {
    type: "event",
    payload: {
      website: site, hostname: location.hostname, url: location.pathname, referrer: document.referrer, title: document.title,
      language: navigator.language, screen: `${screen.width}x${screen.height}`,
    },
  }],
};

function tell() {
  const options = { method: "POST", credentials: "omit", keepalive: true, referrerPolicy: "no-referrer" };
  let path;
  if (provider === "goatcounter") {
    const asked = { p: location.pathname, t: document.title, r: document.referrer, s: `${screen.width},${screen.height},${devicePixelRatio}` };
    path = `/count?${new URLSearchParams(asked)}`;
    Object.assign(options, { method: "GET", mode: "no-cors" });
  } else {
    const [where, data] = BODY[provider]();
    path = where;
    // a form of text needs no question beforehand from the browser
    Object.assign(options, { headers: { "Content-Type": provider === "umami" ? "application/json" : "text/plain" }, body: JSON.stringify(data) });
  }
  fetch(connectUrl + path, options).catch(() => {});
}

const saved = () => { try { return localStorage[KEY]; } catch { return undefined; } };
const save = (answer) => { try { localStorage[KEY] = answer; } catch {} };

function ask(banner) {
  const again = document.querySelector(".counting-again");
  const close = (answer) => {
    const before = saved();
    save(answer);
    banner.hidden = true;
    if (answer === "yes" && before !== "yes") tell();
  };
  banner.querySelector(".counting-yes").addEventListener("click", () => close("yes"));
  banner.querySelector(".counting-no").addEventListener("click", () => close("no"));
  if (again) again.hidden = false;
  again?.addEventListener("click", () => {
    banner.hidden = false;
    banner.querySelector("button").focus();
  });
  if (!saved()) banner.hidden = false;
  else if (saved() === "yes") tell();
}

if (!isRefused && isHere) {
  const banner = document.querySelector(".counting");
  if (banner) ask(banner);
  else tell();
}
