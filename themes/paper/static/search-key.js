// Opens search by its link, by / and by Ctrl-K; what searches is loaded then.
const { search, parts } = document.querySelector("[data-search]")?.dataset ?? {};
const files = parts?.split(" ");
function open(event) {
  event.preventDefault();
  let typed = "";
  const keep = (press) => {
    if (press.key[1] || press.ctrlKey || press.metaKey) return;
    typed += press.key;
    press.preventDefault();
    press.stopImmediatePropagation();
  };
  const take = () => (removeEventListener("keydown", keep, true), typed);
  addEventListener("keydown", keep, true);
  import(files[0]).then((ui) => ui.openSearch(search, files, take), () => (location = search));
}
function press(event) {
  const held = event.ctrlKey || event.metaKey;
  const on = event.composedPath()[0];
  if (on.isContentEditable || on.matches?.("input, select, textarea")) return;
  if (event.key === (held ? "k" : "/") && !event.altKey) open(event);
}
// in one file with other scripts it is there without a search, too
if (files) {
  addEventListener("keydown", press);
  addEventListener("click", (event) => {
    if (event.target.closest?.("a.search-link") && !event.ctrlKey && !event.metaKey) open(event);
  });
}
