// Tells the host that the site has chosen of one visit, by its documented address for that: no script of another host
// runs here. Nothing is told of readers who ask not to be tracked, nor, where the site asks them, before they say yes.

const { provider, site, connectUrl, home } = document.querySelector("script[data-provider]").dataset;
const isRefused = navigator.globalPrivacyControl || navigator.doNotTrack === "1";
// the author's own look at the site is no visit
const isHere = location.host === home;

const { pathname, hostname, href } = location;
const { title, referrer } = document;
const send = (type, data) => ({ method: "POST", headers: { "Content-Type": type }, body: JSON.stringify(data) });
const REQUESTS = {
  goatcounter: () => [
    `/count?${new URLSearchParams({ p: pathname, t: title, r: referrer, s: `${screen.width},${screen.height},${devicePixelRatio}` })}`,
    { mode: "no-cors" },
  ],
  // a form of text needs no question beforehand from the browser
  plausible: () => ["/api/event", send("text/plain", { name: "pageview", domain: site, url: href, referrer: referrer || null })],
  umami: () => [
    "/api/send",
    send("application/json", {
      type: "event",
      payload: { website: site, hostname, url: pathname, referrer, title, language: navigator.language, screen: `${screen.width}x${screen.height}` },
    }),
  ],
};

function tell() {
  const [path, options] = REQUESTS[provider]();
  fetch(connectUrl + path, { ...options, credentials: "omit", keepalive: true, referrerPolicy: "no-referrer" }).catch(() => {});
}

// What the reader has said, or says now; some browsers keep nothing.
function consent(answer) {
  try {
    if (answer) localStorage.counting = answer;
    return localStorage.counting;
  } catch {
    return answer;
  }
}

function ask(banner) {
  const again = document.querySelector(".counting-again");
  const before = consent();
  const close = (answer) => {
    const isNew = consent() !== answer;
    consent(answer);
    banner.hidden = true;
    if (answer === "yes" && isNew) tell();
  };
  for (const answer of ["yes", "no"]) banner.querySelector(`.counting-${answer}`).onclick = () => close(answer);
  if (again) {
    again.hidden = false;
    again.onclick = () => {
      banner.hidden = false;
      banner.querySelector("button").focus();
    };
  }
  banner.hidden = !!before;
  if (before === "yes") tell();
}

if (!isRefused && isHere) {
  const banner = document.querySelector(".counting");
  if (banner) ask(banner);
  else tell();
}
