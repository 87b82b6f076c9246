"""Accessibility checks of an open page with axe: of one look, or of all looks after a single load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .reader import DARK, DESKTOP, PHONE, SHEET, Look, Reader

LOOKS: Mapping[str, Look] = {"light": DESKTOP, "dark": DARK, "phone": PHONE}
WIDTHS = (Look(width_px=1440), Look(width_px=1024), SHEET)
"""Additional looks that are checked only for content wider than the window."""
RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
COLOUR_ALONE = ("dark", "print")
"""Looks that differ from another one only in colours."""
OF_COLOUR = ("color-contrast", "link-in-text-block")
"""Rules that a colour scheme may break. They take most of the time."""
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
# Text of one colour on one background is checked once. Large and normal text count as different.
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
# Over half of all elements are words of code with nothing but a colour, and axe visits all of them in each
# run. Those inline in their text matter only for the rules about colour.
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
    """Return the faults of the open page, each with its position.

    part: a selector, if axe has already checked the rest of the page in this look; empty for the whole page.
    """
    if not reader.ask("return typeof window.axe?.run === 'function'"):
        reader.ask(axe)
    found: list[Sequence[str]] = reader.ask(_ALL, RULES, part) + reader.ask(_WIDER_THAN_THE_WINDOW)
    return found + _noise(reader)


def faults_in_looks(reader: Reader, axe: str, part: str = "") -> list[tuple[str, str, str]]:
    """Return the faults of the whole open page in each look, with the name of the look.

    The page is not loaded again between looks, as if the reader turned the phone or the system became dark.
    It is not changed.
    """
    found = []
    for name, look in LOOKS.items():
        reader.take_on(look)
        found += [(name, fault, place) for fault, place in faults(reader, axe, part)]
    return found


@dataclass(frozen=True, slots=True)
class Looks:
    """Checks of pages in all looks. Text with the same colours is checked once, on the first page with it."""

    reader: Reader
    axe: str
    looks: Mapping[str, Look] = field(default_factory=lambda: LOOKS)
    _judged: set[str] = field(default_factory=set)

    def faults(self) -> list[Sequence[str]]:
        """Return the faults of the open page, without a load for each look."""
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
        # A colour scheme does not affect the other rules. The page still has the last look, so start there.
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
