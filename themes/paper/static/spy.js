// Marks the section the reader is in, in the table of contents, where the browser cannot by itself.

if (!CSS.supports("selector(:target-current)")) {
  const links = [...document.querySelectorAll('.toc a[href^="#"]')];
  const heads = links.map(({ hash }) => document.getElementById(decodeURIComponent(hash.slice(1))));
  const mark = () => {
    const last = heads.findLastIndex((head) => head.getBoundingClientRect().top < innerHeight / 4);
    links.forEach((link, number) => (link.ariaCurrent = number === Math.max(last, 0) ? "true" : null));
  };
  // all that is above, however far: jumps skip headings
  const watcher = new IntersectionObserver(mark, { rootMargin: "9999999px 0px -75%" });
  heads.forEach((head) => watcher.observe(head));
}
