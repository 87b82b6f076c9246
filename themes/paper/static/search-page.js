// The page of the search: its field stands in the page, and the list of all pages shows what has the words.

const place = document.querySelector("[data-search-page]");
const { searchPage, parts } = place.dataset;
const files = parts.split(" ");
const [{ SearchBox }, code] = await Promise.all([import(files[0]), import(files[1])]);
const box = new SearchBox(searchPage, code, files);
const { field } = box;
const bar = document.createElement("div");
bar.className = "search-bar";
bar.append(field);
place.append(bar, box.count, box.examples, box.list);
box.offer().catch(() => box.index.forget());

const entries = [...document.querySelectorAll(".search-pages li")].map((entry) => [entry, code.fold(entry.textContent)]);
const groups = document.querySelectorAll(".search-pages section");

function filter() {
  const wanted = code.fold(field.value).split(/\s+/).filter(Boolean);
  for (const [entry, text] of entries) entry.hidden = !wanted.every((word) => text.includes(word));
  for (const group of groups) group.hidden = !group.querySelector("li:not([hidden])");
}

field.addEventListener("input", filter);
field.value = new URLSearchParams(location.search).get("q") ?? "";
if (field.value) box.search(filter());
addEventListener("keydown", (event) => {
  const isKey = event.ctrlKey || event.metaKey ? event.key === "k" : event.key === "/";
  if (!isKey || event.altKey || event.target.matches?.("input, select, textarea")) return;
  event.preventDefault();
  field.focus();
});
