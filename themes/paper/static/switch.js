// Light or dark by the reader's choice, remembered. It runs in the head, so the page never flashes.
((root, key) => {
  try { root.dataset[key] = localStorage[key] || "auto"; } catch { root.dataset[key] = "auto"; }
  addEventListener("click", ({ target }) => {
    if (!target.closest(".theme-switch")) return;
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const is = { light: 0, dark: 1 }[root.dataset[key]] ?? dark;
    root.dataset[key] = is ? "light" : "dark";
    try { localStorage[key] = root.dataset[key]; } catch {}
  });
})(document.documentElement, "theme");
