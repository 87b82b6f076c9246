// Pictures drawn for dark pages follow the scheme of the page, not only the system.
{
  const root = document.documentElement;
  // with the condition that the page came with
  const sources = new Map();
  const follow = () => {
    const media = { light: "not all", dark: "screen" }[root.dataset.theme ?? root.dataset.scheme];
    for (const source of document.querySelectorAll("picture > source[media*=dark]")) {
      if (!sources.has(source)) sources.set(source, source.media);
    }
    for (const [source, own] of sources) source.media = media ?? own;
  };
  new MutationObserver(follow).observe(root, { attributeFilter: ["data-theme"] });
  // blocks that come while the page is open, as in the live preview
  document.addEventListener("blogsmith:update", follow);
  follow();
}
