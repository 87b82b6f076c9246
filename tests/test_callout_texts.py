"""Callouts detected by their text, and text that only looks like a callout."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from blogsmith.base.diagnostics.edits import apply_fixes
from tests.check import Rendered, render
from tests.rows import each_row, examples

CONTAINERS = {"paragraph": "{}", "quote": "> {}", "item": "- {}", "quote in item": "- > {}"}
FORMS = (
    *("💡 {}: x", "**💡 {}:** x", "**💡 {}**: x", "💡 **{}:** x", "💡 **{}**: x", "💡 *{}:* x", "💡 *{}*: x"),
    *("💡 ***{}:*** x", "💡 __{}__: x", "💡 _{}:_ x", "💡 {} — x", "💡 **{} —** x", "💡 **{}** — x"),
    *(
        "💡 **{}** -- x",
        "💡 {} - x",
        "💡 **{}.** x",
        "💡 **{}**. x",
        "💡{}: x",
        "💡\ufe0f {}: x",
        "💡 {}： x",
    ),
    *("💡 {}:x", "💡  **{}:**  x", "💡 **{}:**\nx", "💡 **{}**\nx", "&#x1F4A1; {}: x"),
)
WRITTEN = ("Key insight", "key insight", "KEY INSIGHT", "Key Insight", "Key  insight")


def kinds(page: Rendered) -> int:
    return page.html.count('data-kind="insight"')


def codes(source: str, config: str = "plugins: [emoji_callouts]\n") -> list[str]:
    """Return the codes of all diagnostics except for broken links."""
    return [d.code for d in render(source, config).diagnostics]


@each_row(
    "text, container",
    [
        (form.format(label), container)
        for form, label, container in product(FORMS, WRITTEN, CONTAINERS)
        if "\n" not in form or container == "paragraph"
    ],
)
def test_label_in_any_form(text: str, container: str) -> None:
    page = render(CONTAINERS[container].format(text))
    assert kinds(page) == 1, page.html
    assert "<p>x</p>" in page.html
    assert not page.diagnostics


@each_row(
    "source, count",
    [
        ("> [!insight]\n> 💡 Key insight: x", 1),
        ("> [!NOTE]\n> 💡 Key insight: x", 2),
        ("> [!NOTE]\n>\n> 💡 **Key insight:** x", 2),
        ("> 💡 Key insight: x\n>\n> 💡 Analogy: x", 2),
        ("> 💡 Key insight:\n> > 💡 Key insight: x", 2),
        ("1. 💡 **Key insight:** x\n2. 💡 **Analogy:** x", 2),
        ("Term\n: 💡 **Key insight:** x", 1),
        ("x[^1]\n\n[^1]: 💡 **Key insight:** x", 1),
        ("💡 **Key insight** : x", 1),
    ],
)
def test_containers_and_nesting(source: str, count: int) -> None:
    page = render(source)
    assert page.html.count("<aside") == count
    assert "callout-doubtful" not in [found.code for found in page.diagnostics]


@each_row(
    "text",
    [
        "💡 `code` x",
        "💡 [Key insight](other-post.md): x",
        "💡 <b>Key insight:</b> x",
        "💡 Key insights: x",
        "💡 Key insight is that x",
        "💡 **Key insight** x",
        "> 💡 Idea: x",
        "- 💡 bright",
        "**💡 Hint** x",
        "💡 **Key insgiht:** x",
    ],
)
def test_emoji_without_a_callout(text: str) -> None:
    assert codes(text) == ["callout-doubtful"]


ORDINARY = (
    *(
        "Key insight: x",
        "A 💡 Key insight: x",
        "# 💡 Key insight: x",
        "| 💡 |\n|---|\n| 💡 Idea |",
        "`💡 Key insight:`",
    ),
    *(
        "🔥 Hot: x",
        "🎓 **Students:** x",
        "✅ Done",
        "💡",
        "💡💬 Talk",
        "> 🔥 **Note** x",
        "    💡 Key insight is",
    ),
    *(
        "> **Note** that x is y",
        "> **Attention** is all you need",
        "> **Attention is all you need**",
        "> Note: x",
    ),
    *(
        "> *Note* how",
        "> **Figure 1:** x",
        "> **Ada:** x",
        "**Note:** x",
        "**Note**",
        "- **Warning:** x",
        "[NOTE] x",
    ),
    *(
        "> [Note] that x",
        "> [note](other-post.md)",
        "> [sic] x",
        "> [x] y",
        "> [ ] todo",
        "> [1] x",
        "> [...] x",
    ),
    *(
        "> [NOTE][n]\n\n[n]: other-post.md",
        "> [NOTE]\n\n[NOTE]: other-post.md",
        "\\[!NOTE] x",
        "> Text [!NOTE]",
    ),
    *(
        "> Text\n> **Note**",
        "> [!NOTE]\n> **Note:** x",
        "> [!NOTE] 💡 x",
        "> $$a$$",
        "> \\[a!\\]",
        "> $!NOTE$",
    ),
    *(
        "`> [! NOTE]`",
        "> `[! NOTE]`",
        "> \\*\\*Note\\*\\*",
        "> “**Quote**”",
        '> ![NOTE](a.png "c")',
        "[^1]\n\n[^1]: x",
    ),
    *(
        "> [@note]: x",
        "> 1. **Note:** x",
        "> # Note",
        "> **See also:** x",
        "[! ] x",
        "[a ! NOTE]",
        "x[! NOTE]",
    ),
)


@each_row("text", ORDINARY)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert "callout-doubtful" not in codes(text)


NEAR = {
    "> [! NOTE]\n> x": "> [!NOTE]\n> x",
    "> [ !NOTE]\n> x": "> [!NOTE]\n> x",
    "> [!NOTE ]- Why\n> x": "> [!NOTE]- Why\n> x",
    "> [!!NOTE]\n> x": "> [!NOTE]\n> x",
    "> [!NOTE:]\n> x": "> [!NOTE]\n> x",
    "> [NOTE]\n> x": "> [!NOTE]\n> x",
    "> [NOTE] x": "> [!NOTE]\n> x",
    "> [Tip]: x y": "> [!TIP]\n> x y",
    "> **Note**\n> x": "> [!NOTE]\n> x",
    "> **Note**: x": "> [!NOTE]\n> x",
    "> **Note:** x\n> y": "> [!NOTE]\n> x\n> y",
    "> __Warning__\n> x": "> [!WARNING]\n> x",
    "> **[!NOTE]**\n> x": "> [!NOTE]\n> x",
    "> \\[!NOTE]\n> x": "> [!NOTE]\n> x",
    "> \\[!NOTE\\]\n> x": "> [!NOTE]\n> x",
    "> \\[!NOTE\\] x": "> [!NOTE]\n> x",
    "- > **Note:** x": "- > [!NOTE]\n  > x",
    "1. > [ ! tip ]\n   > x": "1. > [!TIP]\n   > x",
    "[! NOTE] x": "[!NOTE] x",
    "💡 **Key insights:** x": "💡 **Key insight:** x",
    "> 💡 **Key insgiht** — x": "> 💡 **Key insight** — x",
    "💡 **Key insight** x": "💡 **Key insight:** x",
    "- 🔬 *Research insight* x": "- 🔬 *Research insight:* x",
}


@each_row("source, repaired", NEAR.items())
def test_near_miss_is_repaired(source: str, repaired: str) -> None:
    found = render(source).diagnostics
    assert [d.code for d in found] == ["callout-doubtful"]
    assert apply_fixes(source, [d for d in found if d.fix and d.fix.is_safe]).text == repaired
    page = render(repaired)
    assert 'class="callout callout-' in page.html
    assert not page.diagnostics


@each_row(
    "source",
    [
        "> [!PROOF]",
        "> [!NOTE]-",
        "[!TIP]",
        "- > [!NOTE]",
        "> [!THEOREM] {#thm-a}\n\n{@thm-a}",
        "> a\n>\n> > [!NOTE]",
    ],
)
def test_callout_without_text(source: str) -> None:
    assert "callout-doubtful" in codes(source)


@each_row(
    "prefix, text, is_callout",
    [
        ("💡", "💡 x", True),
        ("💡", "💡", True),
        ("Rule", "Rule: x", True),
        ("Rule", "Rules: x", False),
        ("Rule", "Rule", True),
        (":", ": x", True),
        ("—", "— x", True),
        (" ", "x", False),
        ("Merke:", "**MERKE**: x", True),
        ("Straße:", "STRASSE: x", False),
        ("Tipp –", "Tipp: x", True),
        ("a", "![x](a.png)", False),
        ("→ Also:", "→ Other: x", False),
    ],
)
def test_declared_prefixes(prefix: str, text: str, is_callout: bool) -> None:
    page = render(text, f"callouts: {{own: {{prefix: '{prefix}'}}}}\n")
    assert ("callout-own" in page.html) is is_callout
    assert "callout-doubtful" not in [d.code for d in page.diagnostics if text != prefix]


_PARTS = st.sampled_from(
    [
        *"💡🔬*_:—-.! \n>[]\\#`$|",
        "Key insight",
        "Analogy",
        "Research insight",
        "**",
        "[!NOTE]",
        "[^ 1]",
        "\ufe0f",
        "ß",
        "İ",
    ]
)


@given(st.lists(st.one_of(_PARTS, st.text(max_size=5)), max_size=20))
@examples(300)
def test_any_text_after_the_emoji_is_read(parts: list[str]) -> None:
    for opening in ("💡", "> 💡 Key insight", "- **🔬 Research insight", "> [", "> **Note"):
        page = render(opening + "".join(parts))
        assert page.html.count("<aside") == page.html.count("</aside")
        apply_fixes(opening + "".join(parts), page.diagnostics)
