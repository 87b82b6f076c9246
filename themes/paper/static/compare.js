// Turns each pair of images into a slider. The range input gives keyboard, touch and pointer alike.

function activate(figure) {
  const slider = figure.querySelector(".compare-slider");
  if (!slider) return;
  const [before, after] = ["before", "after"].map((side) => figure.querySelector(`.compare-label-${side}`)?.textContent);
  const move = () => {
    figure.style.setProperty("--split", `${slider.value}%`);
    // a number alone would not say of what
    slider.setAttribute("aria-valuetext", `${slider.value} % ${before}, ${100 - slider.value} % ${after}`);
  };
  slider.addEventListener("input", move);
  figure.classList.add("active");
  move();
}

const start = () => document.querySelectorAll("figure.image-compare:not(.active)").forEach(activate);

start();
// blocks that come while the page is open, as in the live preview
document.addEventListener("blogsmith:update", start);
