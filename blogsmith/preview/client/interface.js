// What the preview shows of itself stands in shadow roots of its own: no theme's style reaches it, and its style
// reaches no page.

const SAID_MS = 4000;

export const make = (name, properties = {}, ...children) => {
  const { data = {}, ...plain } = properties;
  const made = Object.assign(document.createElement(name), plain);
  Object.assign(made.dataset, data);
  made.append(...children);
  return made;
};

let sheet;

export async function loadLook() {
  const answer = await fetch(new URL("interface.css", import.meta.url));
  sheet = new CSSStyleSheet();
  sheet.replaceSync(await answer.text());
}

// An element with a shadow root, to be put somewhere, and that root.
export function shadowed(name) {
  const element = make(name);
  const shadow = element.attachShadow({ mode: "open" });
  shadow.adoptedStyleSheets = [sheet];
  return { element, shadow };
}

export class Interface {
  constructor() {
    const { element, shadow } = shadowed("blogsmith-live");
    this.shadow = shadow;
    this.quiet = make("p", { className: "unseen", role: "status" });
    this.loud = make("p", { className: "unseen", role: "alert" });
    this.said = make("p", { className: "said", hidden: true });
    shadow.append(make("section", { className: "voice", ariaLabel: "Preview messages" }, this.quiet, this.loud));
    // beside the body, which belongs to the site
    document.documentElement.append(element);
  }

  // For those who do not see the screen change.
  announce(text, isUrgent = false) {
    (isUrgent ? this.loud : this.quiet).textContent = text;
  }

  // A word that goes away by itself.
  say(text) {
    this.announce(text);
    this.said.textContent = text;
    this.said.hidden = false;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => (this.said.hidden = true), SAID_MS);
  }
}
