"""Variants of faults in posts: the same fault in other words, languages and surroundings, by seed.

A variant passes if the page shows what its author meant, or if a diagnostic names the cause at its place.
Each kind is a function that writes the fault with random words; `surround` puts it into a list, a quotation,
a cell …

    python -m tests.fault_variants [--count 200] [--seed TEXT] [KIND…]
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tests.check import Rendered, render

WORDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "en": ("queries", "weights", "the softmax", "a plan", "costs", "per unit", "batches"),
        "de": ("Gewichte", "über", "Größe", "die Kosten", "Schlüssel", "für Übung"),
        "fr": ("les poids", "coût", "élève", "où", "clé"),
        "ru": ("веса", "стоимость", "ключ", "план"),
        "el": ("βάρη", "κόστος", "σχέδιο"),
        "zh": ("注意力", "权重", "成本", "计划"),
        "ja": ("重み", "コスト", "注意機構"),
        "ko": ("가중치", "비용", "계획"),
        "ar": ("الأوزان", "تكلفة", "خطة"),
        "he": ("משקל", "עלות"),
        "hi": ("भार", "लागत", "योजना"),
        "th": ("น้ำหนัก", "ต้นทุน"),
    }
)
"""Language of a page → its words."""
BLOCKS = (
    "paragraph",
    "item",
    "numbered",
    "nested",
    "quotation",
    "callout",
    "note",
    "definition",
    "fold",
    "HTML",
)
LINES = (*BLOCKS, "heading", "header", "cell", "title")
_INDENTS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "paragraph": ("", ""),
        "item": ("- ", "  "),
        "numbered": ("1. ", "   "),
        "nested": ("- a\n  - ", "    "),
        "quotation": ("> ", "> "),
        "callout": ("> [!NOTE]\n> ", "> "),
        "note": ("a[^n]\n\n[^n]: ", "    "),
        "definition": ("a\n: ", "  "),
        "heading": ("## ", ""),
        "title": ("> [!TIP] ", ""),
        "cell": ("| a | b |\n|---|---|\n| ", ""),
        "header": ("| ", ""),
        "fold": ('<div class="collapsible" data-label="L">\n\n', ""),
        "HTML": ('<div markdown="1">\n\n', ""),
    }
)
"""Surroundings → text before the first line and before each further line."""
_ENDS: Mapping[str, str] = MappingProxyType(
    {
        "title": "\n> b",
        "cell": " | c |",
        "header": " | b |\n|---|---|\n| c | d |",
        "fold": "\n\n</div>",
        "HTML": "\n\n</div>",
    }
)
FRONT = """\
---
title: {title}
lang: {language}
references:
  - {{id: key, type: book, title: B}}
---

"""
LABELS = "$$x \\label{eq:a}$$\n\n$$y \\label{eq:b}$$\n\n"


@dataclass(frozen=True, slots=True)
class Fault:
    """Text with a fault, and what must come of it."""

    text: str
    shown: tuple[str, ...] = ()
    """Parts of the HTML, where `<math>` stands for a formula."""
    code: str = ""
    """Codes of the diagnostics that are allowed instead, or required if nothing is to be shown."""
    places: tuple[str, ...] = LINES
    """Surroundings that are possible."""
    title: str = "T"
    hint: str = ""
    """Text of the hint."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A post with one fault."""

    kind: str
    source: str
    lines: range
    """Lines of the fault with its surroundings."""
    fault: Fault


class Author:
    """Random choices of an author who writes in one language."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.language = chance.choice(sorted(WORDS))

    def pick(self, *choices: str) -> str:
        """Return one of the choices."""
        return self.chance.choice(choices)

    def words(self, most: int = 3) -> str:
        """Return a few words."""
        return " ".join(self.chance.choices(WORDS[self.language], k=self.chance.randint(1, most)))

    def price(self) -> str:
        """Return an amount in dollars."""
        amount = self.pick("5", "12", "1,000", "2.50", "0.3", "99")
        return self.pick("US${}", "${}", "(${})", "~${}", "≈ ${}", "A${}", "–${}").format(amount)

    def name(self) -> str:
        """Return a variable of a formula."""
        return self.pick("x", "y", "n", "d_k", "\\alpha", "W", "a_i", "\\theta")

    def english(self) -> str:
        """Return a word in Latin letters."""
        return self.pick("plan", "note", "loss", "Query", "Bound", "Table", "sample")


CONSTRUCTS: Mapping[str, str] = MappingProxyType(
    {
        "**bb**": "<strong>bb</strong>",
        "*ee*": "<em>ee</em>",
        "[ll](https://a.b)": '<a href="https://a.b">ll</a>',
        "`cc`": "<code>cc</code>",
        "<b>hh</b>": "<b>hh</b>",
        "\\(m_1\\)": "<math>",
        "{@eq:a}": 'class="xref"',
        "&copy;": "©",
        "==mm==": "<mark>mm</mark>",
        "[[Ctrl]]": "<kbd>Ctrl</kbd>",
        "[@key]": 'class="citation"',
        "\\*": "*",
        "~~dd~~": "<del>dd</del>",
        "![ii](a.png)": "<img",
        "::GG|gg::": "<abbr",
    }
)
"""Inline construct → its HTML."""


def _prices(author: Author) -> Fault:
    construct = author.pick(*CONSTRUCTS)
    first, last = author.price(), author.price()
    text = f"{author.words()} {first} {author.words()} {construct} {author.words()} {last} {author.words()}"
    # In a table, a pipe separates cells.
    places = LINES if "|" not in construct else (*BLOCKS, "heading")
    return Fault(text, (first, last, CONSTRUCTS[construct]), places=places)


def _priced_rows(author: Author) -> Fault:
    prices = [author.pick("{}", "**{}**", "[{}](https://a.b)").format(author.price()) for _ in range(3)]
    row = f"| {author.words()} | {' | '.join(prices[:2])} | {prices[2]} |"
    lines = author.pick(f"{row}\n|---|---|---|---|", f"| a | b | c | d |\n|---|---|---|---|\n{row}")
    return Fault(
        lines, ("<table>", *(re.sub(r"[*\[\]]|\(http.*", "", price) for price in prices)), places=BLOCKS[:6]
    )


def _wrapped(author: Author) -> Fault:
    sign = author.pick("+", "-", "*", ">", "=", "1.", "|", "<", "\\cdot")
    opening, closing = author.chance.choice((("$", "$"), ("\\(", "\\)")))
    left, right = author.name(), author.name()
    text = f"{author.words()} {opening}{left}\n{sign} {right}{closing} {author.words()}"
    return Fault(text, ("<math>",), places=BLOCKS)


def _percent(author: Author) -> Fault:
    number = author.pick("5", "95", "12.5")
    text = author.pick("{0}%", "{1} = {0}%", "{0}% < {1}", "\\frac{{{0}%}}{{2}}").format(
        number, author.name()
    )
    return Fault(f"{author.words()} ${text}$ {author.words()}", code="math-escape")


def _double_backslash(author: Author) -> Fault:
    command = author.pick("alpha", "frac{1}{2}", "sqrt{x}", "sum_i", "mathbf{q}", "cdot x", "theta")
    opening, closing = author.chance.choice((("$", "$"), ("\\(", "\\)")))
    return Fault(f"{author.words()} {opening}{author.name()} \\\\{command}{closing} z", code="math-escape")


def _entities(author: Author) -> Fault:
    entity, sign = author.chance.choice((("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")))
    text = f"{author.words()} $a {entity} {author.name()}$ {author.words()}"
    return Fault(text, code="math-syntax", hint=f"`{sign}`")


def _combining_marks(author: Author) -> Fault:
    letter = author.pick("x", "y", "θ", "W", "a") + author.pick(
        "\u0304", "\u0302", "\u0303", "\u20d7", "\u0308"
    )
    text = author.pick("{}_1", "{} + b", "2{}", "{}^2").format(letter)
    return Fault(f"{author.words()} ${text}$ {author.words()}", ("<math>", 'accent="true"'))


def _github_math(author: Author) -> Fault:
    tex = author.pick("x < y", "a_b", "\\frac{1}{2}", "x|y", "a*b*c")
    if author.chance.random() < 0.5:
        return Fault(f"{author.words()} $`{tex}`$ {author.words()}", ("<math>",))
    return Fault(f"```math\n{tex}\n```", ("<math>",), places=BLOCKS)


def _lone_dollar(author: Author) -> Fault:
    tex = author.pick("x + 1", "\\alpha", "x_i = 3", "a^2")
    return Fault(
        f"{author.words()} ${tex} {author.words()}", code="math-unclosed math-dollar dollar-doubtful"
    )


def _nested_links(author: Author) -> Fault:
    inner = author.pick("{@eq:a}", "\\eqref{eq:a}", "@eq-a", "<https://x.y>", "[@key]")
    return Fault(f"[{author.words()} {inner} b](https://a.b) {author.words()}", code="link-nested")


def _full_width_ends(author: Author) -> Fault:
    url = author.pick("https://a.b/p", "https://a.b/p?q=1", "https://a.b/p#c", "http://c.d/e/f.html")
    sign = author.pick("，", "。", "、", "）", "」", "；", "：", "！", "？", "》")
    return Fault(f"见 {url}{sign}{author.words()}", (f'href="{url}"',))


def _callout_markers(author: Author) -> Fault:
    kind = author.pick("NOTE", "tip", "Warning", "theorem")
    marker = author.pick("[!{}|right]", "[! {}]", "[!{} ]", "[!{}|left]").format(kind)
    title = author.pick("", f" {author.words()}")
    callout = f'data-kind="{kind.lower()}"'
    return Fault(
        f"> {marker}{title}\n> {author.words()}", (callout,), "foreign-syntax callout-doubtful", BLOCKS[:4]
    )


def _callout_headings(author: Author) -> Fault:
    signs = author.pick("#", "##", "###")
    return Fault(
        f"> [!quote] {signs} {author.words().capitalize()}\n> a", code="foreign-syntax", places=BLOCKS[:4]
    )


def _heading_without_space(author: Author) -> Fault:
    word = author.pick("Intro", "Results", "Überblick", "Методы", "Ergebnisse")
    return Fault(f"{author.pick('#', '##', '###')}{word}", code="heading-doubtful", places=("paragraph",))


def _spaces_in_paths(author: Author) -> Fault:
    path = f"{author.english()} {author.english()}.{author.pick('png', 'svg', 'pdf', 'md')}"
    return Fault(f"{author.words()} {author.pick('', '!')}[{author.words()}]({path})", code="link-space")


def _table_headers(author: Author) -> Fault:
    head = author.pick("| `a|b` | c |", "| a | b | c |", "| a |")
    return Fault(f"{head}\n|---|---|\n| x | y |", code="table-cells", places=BLOCKS[:6])


def _note_names(author: Author) -> Fault:
    name = f"{author.english()} {author.english()}"
    text = f"{author.words()}[^{name}] {author.words()}\n\n[^{name}]: {author.words()}"
    return Fault(text, code="footnote-undefined", places=("paragraph",))


def _mdx(author: Author) -> Fault:
    if author.chance.random() < 0.4:
        text = f"import {author.english()} from './{author.english()}'"
        return Fault(text, code="foreign-syntax", places=("paragraph",))
    if author.chance.random() < 0.5:
        return Fault(f"{{/* {author.words()} */}}", code="foreign-syntax")
    return Fault(
        f"<{author.pick('Tabs', 'Admonition', 'Chart')}>\n\n{author.words()}",
        code="html-element",
        places=BLOCKS,
    )


def _unfinished_html(author: Author) -> Fault:
    tag = author.pick("<details>", "<script>", "<textarea>", "<title>", "<svg>", "<template>", "<div hidden>")
    text = author.pick(f"{author.words()} {tag} zz", f"{author.words()} <!-- zz")
    return Fault(text, code="html-open div-open")


def _unpaired_html(author: Author) -> Fault:
    tag = author.pick("<b>", "<div>", "</div>", "</section>", "<font color=red>", "</b>", "<center>", "<em>")
    return Fault(f"{author.words()} {tag} zz", ("zz",), "html-unpaired")


def _theorem_titles(author: Author) -> Fault:
    kind = author.pick("THEOREM", "Lemma", "corollary", "PROPOSITION")
    title = author.words()
    text = f"> [!{kind}] {title}\n> {author.words()}"
    return Fault(text, (f'data-kind="{kind.lower()}"', 'class="callout-label"', title), places=BLOCKS[:4])


def _fenced_divs(author: Author) -> Fault:
    head, hint = author.chance.choice(
        (
            ("{#eq-div}", "{#eq-div}"),
            ("{.proof}", "[!PROOF]"),
            ("{#thm-a}", "[!THEOREM] {#thm-a}"),
            ("{.column-margin}", "[!MARGIN]"),
            ("{.callout-tip}", "[!TIP]"),
            ("{.panel-tabset}", "tabs"),
            ("warning", "[!WARNING]"),
            ("{#fig-a}", "{#fig-a}"),
        )
    )
    text = f"{author.pick(':::', '::::')} {head}\n{author.words()}\n:::"
    return Fault(text, code="foreign-syntax", places=BLOCKS[:6], hint=hint)


def _caption_classes(author: Author) -> Fault:
    caption, name = author.words(), author.english().lower()
    text = f"| a |\n|---|\n| b |\n\n: {caption} {{#tbl-{name} .{name}}}"
    return Fault(text, (f'<table id="tbl-{name}" class="{name}">', caption), places=BLOCKS[:4])


def _reference_lists(author: Author) -> Fault:
    text = author.pick("{@eq:a;eq:b}", "{@eq:a, @eq:b}", "{@Eq:a}", "{@Eq:a;Eq:b}", "{@eq:a,eq:b}")
    return Fault(f"{author.words()} {text} {author.words()}", code="ref-kind", hint="{@eq:a}")


def _myst_labels(author: Author) -> Fault:
    name = author.pick("eq-loss", "eq:loss")
    if author.chance.random() < 0.5:
        text = author.pick(f"$$ z $$ ({name})", f"$$\nz\n$$ ({name})")
        return Fault(text, ('id="eq-loss"',), places=BLOCKS[:6])
    text = author.pick("$$ z $$ (my_label)", "$$\nz\n$$ (my_label)", "$$\nz\n$$ (eqn-1)", "\\[ z \\] (a:b)")
    return Fault(text, code="foreign-syntax", places=BLOCKS[:6], hint="{#eq:")


def _bold_before_letters(author: Author) -> Fault:
    inner = author.pick("$n$", "`code`", '"a"', "(a)", "a.")
    return Fault(f"{author.words()} **{inner}**th {author.words()}", code="emphasis-doubtful")


def _array_columns(author: Author) -> Fault:
    columns = author.pick("{cc}", "{c|c}", "{c}{c}", "{{cc}}", "{l r}")
    tex = f"\\begin{{array}}{{{columns}}} a & b \\end{{array}}"
    return Fault(f"{author.words()} ${tex}$ {author.words()}", ("<math>",))


def _code_in_titles(author: Author) -> Fault:
    title = f"{author.words()} `{author.english()}`"
    return Fault("a", ("<h1>",), title=f'"{title}"', places=("paragraph",))


def _heading_breaks(author: Author) -> Fault:
    return Fault(f"## Ab{author.pick('<br>', '<br/>', '<br />')}Cd", ('id="ab-cd"',), places=("paragraph",))


def _merge_conflicts(author: Author) -> Fault:
    one, two = author.words(), author.words()
    text = f"<<<<<<< HEAD\n{one}\n=======\n{two}\n>>>>>>> {author.english()}"
    return Fault(text, code="merge-conflict", places=("paragraph",))


def _tied_references(author: Author) -> Fault:
    return Fault(f"{author.words()}~{{@eq:a}} {author.words()}", code="foreign-syntax")


def _quod_erat(author: Author) -> Fault:
    command = author.pick("\\qed", "\\qedhere", "\\blacksquare", "\\square")
    text = f"> [!PROOF]\n> {author.words()} {command}"
    return Fault(text, ('class="qed"',), "foreign-syntax", places=BLOCKS[:4])


KINDS: Mapping[str, Callable[[Author], Fault]] = MappingProxyType(
    {
        "constructs between prices": _prices,
        "prices in table rows": _priced_rows,
        "formulas over lines": _wrapped,
        "percent signs in formulas": _percent,
        "commands with two backslashes": _double_backslash,
        "entities in formulas": _entities,
        "combining marks in formulas": _combining_marks,
        "formulas of GitHub": _github_math,
        "lone dollars": _lone_dollar,
        "array columns": _array_columns,
        "labels of MyST": _myst_labels,
        "end marks of proofs": _quod_erat,
        "ties before references": _tied_references,
        "lists of references": _reference_lists,
        "links in links": _nested_links,
        "URLs before full-width signs": _full_width_ends,
        "spaces in paths": _spaces_in_paths,
        "markers of callouts": _callout_markers,
        "headings in callout titles": _callout_headings,
        "theorems with a title": _theorem_titles,
        "headings without a space": _heading_without_space,
        "breaks in headings": _heading_breaks,
        "code in titles": _code_in_titles,
        "rows of table headers": _table_headers,
        "captions of tables": _caption_classes,
        "names of footnotes": _note_names,
        "bold text before letters": _bold_before_letters,
        "fenced divs": _fenced_divs,
        "MDX": _mdx,
        "HTML that never ends": _unfinished_html,
        "HTML without a partner": _unpaired_html,
        "merge conflicts": _merge_conflicts,
    }
)
"""Kind of fault → function that writes one."""


def surround(text: str, place: str) -> str:
    """Return the text in a list, a quotation, a cell …"""
    first, later = _INDENTS[place]
    lines = text.split("\n")
    rest = "".join(f"\n{later if line else later.rstrip()}{line}" for line in lines[1:])
    return f"{first}{lines[0]}{rest}{_ENDS.get(place, '')}"


def make_variant(kind: str, seed: str, number: int) -> Variant:
    """Return the variant with this number."""
    author = Author(random.Random(f"{seed} {kind} {number}"))
    fault = KINDS[kind](author)
    place = author.pick(*fault.places)
    labels = LABELS if "eq:" in fault.text or "@eq" in fault.text else ""
    front = FRONT.format(title=fault.title, language=author.language)
    before, text = f"{front}{labels}First {author.words()}.\n\n", surround(fault.text, place)
    first = before.count("\n") + 1
    lines = range(first, first + text.count("\n") + 1)
    return Variant(kind, f"{before}{text}\n\nLast words.\n", lines, fault)


_MATHML = re.compile(r'accent="true"')


def fold(html: str) -> str:
    """Return the HTML with `<math>` for each formula."""
    return re.sub(r"<math.*?</math>", "<math>", html, flags=re.DOTALL)


def is_named(variant: Variant, rendered: Rendered) -> bool:
    """Return whether a diagnostic names the cause, with the text to type."""
    fault, lines = variant.fault, variant.lines
    return any(
        found.code in fault.code.split()
        and fault.hint in found.hint
        and found.place
        and found.place.line in lines
        for found in rendered.diagnostics
    )


def fault_of(variant: Variant) -> str:
    """Return a description of what is lost; empty if nothing is."""
    rendered = render(variant.source)
    whole = rendered.html + rendered.body.title_html
    page = fold(whole) + " ".join(_MATHML.findall(whole))
    if variant.kind == "code in titles":
        return "" if "<code>" in page else "the title has backticks"
    if "Last words." not in page:
        return "the last words are lost"
    missing = [part for part in variant.fault.shown if part not in page]
    if variant.fault.shown and not missing:
        return ""
    if variant.fault.code and is_named(variant, rendered):
        return ""
    return f"not shown: {missing}, reported: {sorted({found.code for found in rendered.diagnostics})}"


def main(arguments: list[str]) -> int:
    """Print the number of variants of each kind that are lost, and the first of them."""
    count = 200
    if arguments[:1] == ["--count"]:
        count, arguments = int(arguments[1]), arguments[2:]
    total = 0
    for kind in arguments or KINDS:
        variants = [make_variant(kind, "variants", number) for number in range(count)]
        faults = [(variant, fault) for variant in variants if (fault := fault_of(variant))]
        total += len(faults)
        print(f"{kind}: {count} variants, {len(faults)} lost")
        for variant, fault in faults[: 3 if arguments else 1]:
            print(f"    {fault}\n    {variant.source!r}")
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
