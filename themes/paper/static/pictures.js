// Pictures drawn for dark pages follow the reader's choice of the switch, not only the system.
{
  const root = document.documentElement;
  const sources = [...document.querySelectorAll("picture > source[media*=dark]")].map((s) => [s, s.media]);
  const follow = () => {
    const media = { light: "not all", dark: "screen" }[root.dataset.theme];
    for (const [source, own] of sources) source.media = media ?? own;
  };
  new MutationObserver(follow).observe(root, { attributeFilter: ["data-theme"] });
  follow();
}
