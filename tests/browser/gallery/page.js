// Both sides of a line beside each other where they have room, else one above the other.
document.fonts.ready.then(() => {
  const tooWide = (element) => element.scrollWidth > element.clientWidth + 1;
  for (const line of document.querySelectorAll(".line")) {
    const boxes = line.querySelectorAll(".side, .math-display");
    line.classList.toggle("stacked", [...boxes].some(tooWide));
  }
  document.documentElement.dataset.ready = "yes";
});
