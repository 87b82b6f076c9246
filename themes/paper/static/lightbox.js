// Large pictures over the page; without this script links lead to them.
const view = document.querySelector("dialog");
let links, at;

const show = (to) => {
  at = (to + links.length) % links.length;
  const link = links[at];
  const dark = link.querySelector("[media]");
  const text = link.parentNode.querySelector("figcaption");
  const image = new Image();
  image.alt = link.querySelector("img").alt;
  image.src = dark && matchMedia(dark.media).matches ? link.dataset.dark : link;
  view.firstElementChild.replaceChildren(image, text?.cloneNode(true) ?? "");
};

onclick = (event) => {
  const { target } = event;
  const link = target.closest(".lightbox");
  if (target.dataset.step) show(at + +target.dataset.step);
  else if (view.contains(target)) view.close();
  else if (link && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    links = [...(link.closest(".image-grid") ?? link.parentNode).querySelectorAll(".lightbox")];
    view.className = `lightbox-view of-${links.length}`;
    show(links.indexOf(link));
    view.showModal();
  }
};
view.onkeydown = ({ key }) => {
  if (/^Arrow[LR]/.test(key)) show(at + (key < "ArrowR" ? -1 : 1));
};
view.onclose = () => links[at].focus();
