// Other tabs of the page follow the choice, where they have a part of the same label.

document.addEventListener("change", ({ target }) => {
  if (!target.matches(".tab > input")) return;
  const top = () => target.nextElementSibling.getBoundingClientRect().top;
  const before = top();
  for (const other of document.querySelectorAll(".tab > input"))
    if (other.value === target.value) other.checked = true;
  // what stands above may be of another height now
  scrollBy({ top: top() - before, behavior: "instant" });
});
