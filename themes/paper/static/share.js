// Copies the address of the page; without this, the link that says so leads to it.

const SHOWN_MS = 1600;

for (const link of document.querySelectorAll(".share-link")) {
  const name = link.textContent;
  link.setAttribute("role", "button");
  const act = async (event) => {
    event.preventDefault();
    try {
      await navigator.clipboard.writeText(link.href);
    } catch {
      location.assign(link.href);
      return;
    }
    link.textContent = link.dataset.done;
    setTimeout(() => (link.textContent = name), SHOWN_MS);
  };
  link.addEventListener("click", act);
  link.addEventListener("keydown", (event) => event.key === " " && act(event));
}
