// The page as the server sent it, beside the page as it is. Scripts add buttons, move elements and set attributes;
// readers open what is folded. An update changes what the server changed and nothing else, so it has to know
// which node of the page came from which node of the HTML.

const PLACES = ["data-line", "data-cell"];
const PLACED = PLACES.map((name) => `[${name}]`).join();

export const isPlace = (name) => PLACES.includes(name);

function isSame(sent, shown) {
  if (sent.nodeName !== shown.nodeName) return false;
  if (sent.nodeType !== Node.ELEMENT_NODE) return sent.data === shown.data;
  return !sent.id || sent.id === shown.id;
}

const kindOf = (element) => `${element.localName}.${element.className}`;

export class Served {
  constructor(html) {
    this.html = html;
    this.lives = new WeakMap();
    this.sources = new WeakMap();
    takePlaces(html);
    this.pair(html.documentElement, document.documentElement);
    this.kinds = this.kindsThatScriptsTouch();
  }

  // The node of the page that stands for one of the HTML, if scripts left it where it was.
  live(sent) {
    return this.lives.get(sent);
  }

  // The node of the HTML that a node of the page stands for; none for those that scripts made.
  source(shown) {
    return this.sources.get(shown);
  }

  join(sent, shown) {
    this.lives.set(sent, shown);
    this.sources.set(shown, sent);
  }

  // Two trees, node by node; what scripts put between is passed over.
  pair(sent, shown) {
    this.join(sent, shown);
    let next = shown.firstChild;
    for (const child of sent.childNodes) {
      let found = next;
      while (found && !isSame(child, found)) found = found.nextSibling;
      if (!found) continue;
      this.pair(child, found);
      next = found.nextSibling;
    }
  }

  // Whether all that was sent of an element still stands in it.
  isWhole(sent, shown) {
    return [...sent.childNodes].every((child) => this.live(child)?.parentNode === shown);
  }

  // Whether it is so to the last node, with nothing added.
  isUntouched(sent, shown) {
    const isHere = (child) => {
      const live = this.live(child);
      return live?.parentNode === shown && this.isUntouched(child, live);
    };
    return sent.childNodes.length === shown.childNodes.length && [...sent.childNodes].every(isHere);
  }

  isTouched(sent, shown) {
    // whether it is open is the reader's choice
    const isOther = (name) => !isPlace(name) && name !== "open" && sent.getAttribute(name) !== shown.getAttribute(name);
    const names = [...sent.getAttributeNames(), ...shown.getAttributeNames()];
    return sent.childNodes.length !== shown.childNodes.length || !this.isWhole(sent, shown) || names.some(isOther);
  }

  // Kinds of blocks of which scripts touched every one: what they would do to a new one, too.
  kindsThatScriptsTouch() {
    const kinds = new Map();
    for (const sent of this.html.querySelectorAll("main [class]:not(math *, svg *)")) {
      const shown = this.live(sent);
      const isTouched = !shown || this.isTouched(sent, shown);
      kinds.set(kindOf(sent), (kinds.get(kindOf(sent)) ?? true) && isTouched);
    }
    return new Set([...kinds].filter(([, isTouched]) => isTouched).map(([kind]) => kind));
  }

  // Whether scripts have not seen this new element, though they saw all others of its kind.
  isMissed(shown) {
    const isMissed = (element) => {
      const sent = this.source(element);
      return sent && this.kinds.has(kindOf(sent)) && !this.isTouched(sent, element);
    };
    return [shown, ...shown.querySelectorAll("[class]")].some(isMissed);
  }

  // Blocks move when a line is added above; that alone is no change. Their places follow at the end.
  givePlaces(places, html) {
    const blocks = [...html.querySelectorAll(PLACED)];
    this.html.querySelectorAll(PLACED).forEach((sent, number) => {
      const shown = this.live(sent);
      const place = places.get(blocks[number]);
      for (const name of PLACES) {
        if (shown && place?.[name] !== undefined && shown.getAttribute(name) !== place[name])
          shown.setAttribute(name, place[name]);
      }
    });
  }
}

// Takes the places out of a document, so that blocks compare equal wherever they stand; gives what they were.
export function takePlaces(html) {
  const places = new Map();
  for (const block of html.querySelectorAll(PLACED)) {
    const place = {};
    for (const name of PLACES) {
      if (!block.hasAttribute(name)) continue;
      place[name] = block.getAttribute(name);
      block.setAttribute(name, "");
    }
    places.set(block, place);
  }
  return places;
}
