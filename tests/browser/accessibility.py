"""What axe says of a page that is open: whole, or in a short form for all looks at it after one load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .reader import DARK, DESKTOP, PHONE, Look, Reader

LOOKS: Mapping[str, Look] = {"light": DESKTOP, "dark": DARK, "phone": PHONE}
RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
OF_COLOUR = ("color-contrast", "link-in-text-block")
"""Rules that a colour scheme may break; they take most of the time."""
_RUN = """
const run = (context, options) =>
  axe.run(context, {resultTypes: ["violations"], ...options}).then(({violations}) =>
    violations.flatMap(({id, nodes}) => nodes.map(({target, any, all, none}) =>
      [`${id}: ${[...any, ...all, ...none][0]?.message}`, target.join(" ")])));
"""
_ALL = f"{_RUN} return run(document, {{runOnly: arguments[0]}});"
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
window.firstOfColours = new Map();
for (const element of document.body.querySelectorAll("*")) {
  if (!element.matches("a, input, select, textarea, button") && !hasText(element)) continue;
  if (!element.checkVisibility({visibilityProperty: true})) continue;
  const style = getComputedStyle(element);
  // 18 points, or 14 that are bold
  const isLarge = parseFloat(style.fontSize) >= (style.fontWeight >= 700 ? 18.66 : 24);
  const isLink = element.localName === "a";
  const beside = isLink ? getComputedStyle(element.parentElement).color : "";
  const key = [ground(element), pick(style, TEXT), isLarge, isLink, beside].join();
  if (!firstOfColours.has(key)) firstOfColours.set(key, element);
}
return [...firstOfColours.keys()];
"""
_OF_COLOUR = f"""{_RUN}
const [values, keys] = arguments;
return run({{include: keys.map(key => firstOfColours.get(key))}}, {{runOnly: {{type: "rule", values}}}});
"""
_WIDER_THAN_THE_WINDOW = """
const width = document.documentElement.scrollWidth;
if (width <= innerWidth) return [];
const all = [...document.querySelectorAll("body *")];
const wide = all.filter(element => element.getBoundingClientRect().right > innerWidth).slice(0, 5);
return [["wider than the window", wide.map(e => `<${e.localName} class="${e.className}">`).join(" ")]];
"""


def faults(reader: Reader, axe: str) -> list[Sequence[str]]:
    """What is wrong with the page that is open, each with where it is."""
    reader.ask(axe)
    found: list[Sequence[str]] = reader.ask(_ALL, RULES) + reader.ask(_WIDER_THAN_THE_WINDOW)
    return found + _noise(reader)


@dataclass(frozen=True, slots=True)
class Looks:
    """Judges page after page in all looks; text of the same colours once, on the first page that has it."""

    reader: Reader
    axe: str
    _judged: set[str] = field(default_factory=set)

    def faults(self) -> list[Sequence[str]]:
        """What is wrong with the page that is open, without a load for each look."""
        self.reader.ask(self.axe)
        found: list[Sequence[str]] = []
        for name, look in LOOKS.items():
            self.reader.take_on(look)
            found += self.reader.ask(_WIDER_THAN_THE_WINDOW)
            found += self._of_colour()
            # a colour scheme has no part in the other rules
            found += self.reader.ask(_ALL_BUT_COLOUR, RULES, OF_COLOUR) if name != "dark" else []
        return found + _noise(self.reader)

    def _of_colour(self) -> list[Sequence[str]]:
        new = [key for key in self.reader.ask(_COLOURS) if key not in self._judged]
        self._judged.update(new)
        found: list[Sequence[str]] = self.reader.ask(_OF_COLOUR, OF_COLOUR, new) if new else []
        return found


def _noise(reader: Reader) -> list[Sequence[str]]:
    found: list[Sequence[str]] = [("error in the console", problem) for problem in reader.problems()]
    return found + [("request to another host", url) for url in reader.foreign_requests()]
