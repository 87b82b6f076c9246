// Light, dark, or as the system says, by choice; in the head, so that no page flashes.
{
  const root = document.documentElement;
  const data = root.dataset;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const show = () => {
    const button = document.querySelector(".theme-switch");
    const words = JSON.parse(document.querySelector("[data-words]")?.textContent ?? "{}");
    const t = (text) => words[text] ?? text;
    const name = t(data.theme === "auto" ? "as the system" : data.theme);
    button?.setAttribute("aria-label", t("Colour scheme: {name}").replace("{name}", name));
    // the frame that a phone draws around the page
    const ground = document.body && getComputedStyle(root).backgroundColor;
    if (ground) for (const meta of document.querySelectorAll("[name=theme-color]")) meta.content = ground;
  };
  try { data.theme = localStorage.theme || data.scheme || "auto"; } catch { data.theme = data.scheme || "auto"; }
  addEventListener("click", (event) => {
    if (!event.target.closest?.(".theme-switch")) return;
    // first what the reader does not see now, and from there back to the system
    const order = dark.matches ? ["auto", "light", "dark"] : ["auto", "dark", "light"];
    data.theme = order[(order.indexOf(data.theme) + 1) % 3];
    try { localStorage.theme = data.theme; } catch {}
    show();
  });
  dark.addEventListener("change", show);
  addEventListener("DOMContentLoaded", show);
  document.addEventListener("blogsmith:update", show);
}
