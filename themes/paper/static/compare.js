// Turns each pair of images into a slider. The range input gives keyboard, touch and pointer alike.

function activate(figure) {
  const slider = figure.querySelector(".compare-slider");
  if (!slider) return;
  const move = () => figure.style.setProperty("--split", `${slider.value}%`);
  slider.addEventListener("input", move);
  figure.classList.add("active");
  move();
}

const start = () => document.querySelectorAll("figure.image-compare:not(.active)").forEach(activate);

start();
// blocks that come while the page is open, as in the live preview
document.addEventListener("blogsmith:update", start);
