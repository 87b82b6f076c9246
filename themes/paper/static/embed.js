// A click on the still panel loads the embed in its place. Until then nothing leaves the page.

const POLICY = "autoplay; encrypted-media; fullscreen; picture-in-picture";

function frame(figure, title) {
  const iframe = document.createElement("iframe");
  iframe.src = figure.dataset.embedUrl;
  iframe.title = title;
  iframe.allow = POLICY;
  // YouTube refuses to play without knowing the embedding site's origin
  iframe.referrerPolicy = "strict-origin-when-cross-origin";
  if (figure.dataset.height) iframe.height = figure.dataset.height;
  return iframe;
}

function load(event) {
  // a click that asks for a new tab or window stays an ordinary link
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const link = event.currentTarget;
  const iframe = frame(link.closest("figure"), link.ariaLabel ?? link.textContent.trim());
  event.preventDefault();
  link.replaceWith(iframe);
  iframe.focus();
}

function start() {
  for (const link of document.querySelectorAll("figure[data-embed-url] > a.embed-link")) {
    const address = new URL(link.parentElement.dataset.embedUrl, document.baseURI);
    if (address.protocol === "https:") link.addEventListener("click", load);
  }
}

start();
// blocks that come while the page is open, as in the live preview
document.addEventListener("blogsmith:update", start);
