// Light or dark, by choice; in the head, so that no page flashes.
{
  const data = document.documentElement.dataset;
  try { data.theme = localStorage.theme || "auto"; } catch { data.theme = "auto"; }
  addEventListener("click", (e) => {
    if (!e.target.closest(".theme-switch")) return;
    const dark = { light: 0, dark: 1 }[data.theme] ?? matchMedia("(prefers-color-scheme:dark)").matches;
    data.theme = dark ? "light" : "dark";
    try { localStorage.theme = data.theme; } catch {}
  });
}
