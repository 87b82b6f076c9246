"""What axe says of a page that is open: whole, or in a short form for all looks at it after one load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .reader import DARK, DESKTOP, PHONE, SHEET, Look, Reader

LOOKS: Mapping[str, Look] = {"light": DESKTOP, "dark": DARK, "phone": PHONE}
WIDTHS = (Look(width_px=1440), Look(width_px=1024), SHEET)
"""Looks beside these in which nothing may stick out."""
RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
COLOUR_ALONE = ("dark", "print")
"""Looks in which nothing else than the colours differs from what another one shows."""
OF_COLOUR = ("color-contrast", "link-in-text-block")
"""Rules that a colour scheme may break; they take most of the time."""
_RUN = """
const run = (context, options) =>
  axe.run(context, {resultTypes: ["violations"], ...options}).then(({violations}) =>
    violations.flatMap(({id, nodes}) => nodes.map(({target, any, all, none}) =>
      [`${id}: ${[...any, ...all, ...none][0]?.message}`, target.join(" ")])));
"""
_ALL = f"""{_RUN}
const [tags, part] = arguments;
return run(part ? {{include: [part]}} : document, {{runOnly: tags}});
"""
_ALL_BUT_COLOUR = f"""{_RUN}
const [tags, others] = arguments;
const rules = Object.fromEntries(others.map(rule => [rule, {{enabled: false}}]));
return run(document, {{runOnly: tags, rules}});
"""
# One text of a colour on a ground is as readable as another; of sizes two are told apart.
_COLOURS = """
const GROUND = ["backgroundColor", "backgroundImage", "opacity", "filter", "mixBlendMode"];
const TEXT = ["color", "textShadow", "textDecorationLine"];
const PLAIN = "rgba(0, 0, 0, 0),none,1,none,normal";
const pick = (style, names) => names.map(name => style[name]).join();
const grounds = new Map([[null, ""]]);
function ground(element) {
  if (grounds.has(element)) return grounds.get(element);
  const style = getComputedStyle(element);
  const own = pick(style, GROUND);
  // what has a place of its own may lie on anything
  const isPlaced = !["static", "relative"].includes(style.position);
  const found = ground(element.parentElement) + (own === PLAIN ? "" : `/${own}`)
    + (isPlaced ? `@${element.localName}.${element.className}` : "");
  grounds.set(element, found);
  return found;
}
const hasText = element =>
  [...element.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.data.trim());
const isCode = element => element.localName === "span" && element.closest("pre")
  && element.getAttributeNames().every(name => name === "class");
// in line with the text about it, as that would be without it
const isInLine = style => style.display === "inline" && style.position === "static" && style.float === "none"
  && style.visibility === "visible" && style.opacity === "1" && style.transform === "none";
const firsts = new Map();
window.firstOfColours = {...window.firstOfColours, [arguments[0]]: firsts};
window.merelyColoured ??= new Set([...document.querySelectorAll("pre span")].filter(isCode));
for (const element of merelyColoured)
  if (!isInLine(getComputedStyle(element))) merelyColoured.delete(element);
for (const element of document.body.querySelectorAll("*")) {
  if (!element.matches("a, input, select, textarea, button") && !hasText(element)) continue;
  if (!element.checkVisibility({visibilityProperty: true})) continue;
  const style = getComputedStyle(element);
  // 18 points, or 14 that are bold
  const isLarge = parseFloat(style.fontSize) >= (style.fontWeight >= 700 ? 18.66 : 24);
  const isLink = element.localName === "a";
  const beside = isLink ? getComputedStyle(element.parentElement).color : "";
  const key = [ground(element), pick(style, TEXT), isLarge, isLink, beside].join();
  if (!firsts.has(key)) firsts.set(key, element);
}
return [...firsts.keys()];
"""
_OF_COLOUR = f"""{_RUN}
const [values, look, keys] = arguments;
const include = keys.map(key => firstOfColours[look].get(key));
return run({{include}}, {{runOnly: {{type: "rule", values}}}});
"""
# Words of code that are nothing but coloured are over half of all elements, and axe goes through all of them
# in each run. Those in line with the text about them have no part in any rule but those of colour.
_MELT = """
const needed = new Set();
const firsts = Object.entries(arguments[0]).flatMap(
  ([look, keys]) => keys.map(key => firstOfColours[look].get(key)));
for (const first of firsts)
  for (let element = first; element; element = element.parentElement) needed.add(element);
const melted = [...merelyColoured].filter(element => !needed.has(element));
const around = new Set(melted.map(element => element.closest("pre")));
for (const element of melted) element.replaceWith(...element.childNodes);
for (const code of around) code.normalize();
"""
_WIDER_THAN_THE_WINDOW = """
const width = document.documentElement.scrollWidth;
if (width <= innerWidth) return [];
const media = matchMedia("print").matches ? "sheet" : "window";
const all = [...document.querySelectorAll("body *")];
const wide = all.filter(element => element.getBoundingClientRect().right > innerWidth).slice(0, 5);
const places = wide.map(e => `<${e.localName} class="${e.className}">`).join(" ");
return [[`wider than the ${media} of ${innerWidth} px`, places]];
"""


def faults(reader: Reader, axe: str, part: str = "") -> list[Sequence[str]]:
    """What is wrong with the page that is open, each with where it is.

    part: a selector, where axe has judged the rest of the page in this look before.
    """
    if not reader.ask("return typeof window.axe?.run === 'function'"):
        reader.ask(axe)
    found: list[Sequence[str]] = reader.ask(_ALL, RULES, part) + reader.ask(_WIDER_THAN_THE_WINDOW)
    return found + _noise(reader)


def faults_in_looks(reader: Reader, axe: str, part: str = "") -> list[tuple[str, str, str]]:
    """What `faults` finds in the page that is open, whole in each look, with the name of the look.

    The page is not loaded again, as by a reader who turns the phone or whose system becomes dark, and stays
    as it is.
    """
    found = []
    for name, look in LOOKS.items():
        reader.take_on(look)
        found += [(name, fault, place) for fault, place in faults(reader, axe, part)]
    return found


@dataclass(frozen=True, slots=True)
class Looks:
    """Judges page after page in all looks; text of the same colours once, on the first page that has it."""

    reader: Reader
    axe: str
    looks: Mapping[str, Look] = field(default_factory=lambda: LOOKS)
    _judged: set[str] = field(default_factory=set)

    def faults(self) -> list[Sequence[str]]:
        """What is wrong with the page that is open, without a load for each look."""
        found: list[Sequence[str]] = []
        colours: dict[str, list[str]] = {}
        for look in WIDTHS:
            self.reader.take_on(look)
            found += self.reader.ask(_WIDER_THAN_THE_WINDOW)
        for name, look in self.looks.items():
            self.reader.take_on(look)
            found += self.reader.ask(_WIDER_THAN_THE_WINDOW)
            colours[name] = self._new_colours(name)
        self.reader.ask(_MELT, colours)
        self.reader.ask(self.axe)
        # a colour scheme has no part in the other rules; the last look is still taken on
        for name in [name for name in reversed(colours) if colours[name] or name not in COLOUR_ALONE]:
            self.reader.take_on(self.looks[name])
            found += self.reader.ask(_OF_COLOUR, OF_COLOUR, name, colours[name]) if colours[name] else []
            if name not in COLOUR_ALONE:
                found += self.reader.ask(_ALL_BUT_COLOUR, RULES, OF_COLOUR)
        return found + _noise(self.reader)

    def _new_colours(self, look: str) -> list[str]:
        new = [key for key in self.reader.ask(_COLOURS, look) if key not in self._judged]
        self._judged.update(new)
        return new


def _noise(reader: Reader) -> list[Sequence[str]]:
    found: list[Sequence[str]] = [("error in the console", problem) for problem in reader.problems()]
    return found + [("request to another host", url) for url in reader.foreign_requests()]
