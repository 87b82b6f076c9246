// Silent loops play while they are seen, for readers who have nothing against motion.
const still = matchMedia("(prefers-reduced-motion: reduce)");

const seen = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) target.pause();
      else if (!still.matches) target.play().catch(() => {});
    }
  },
  { threshold: 0.25 },
);

const start = () => document.querySelectorAll("video[loop]").forEach((film) => seen.observe(film));

start();
// blocks that come while the page is open, as in the live preview
document.addEventListener("blogsmith:update", start);
