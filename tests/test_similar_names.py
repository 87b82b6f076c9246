"""Suggested names: typos are found, and a hint never proposes something unrelated."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from hypothesis import given
from hypothesis import strategies as st

from blogsmith.base.diagnostics.codes import CODES
from blogsmith.base.diagnostics.model import Place, Reporter, confirm_typo, did_you_mean, nearest
from blogsmith.base.diagnostics.similar_names import compare, count_typos, find_similar, is_typo
from blogsmith.config.schema import Config
from blogsmith.read.head import KNOWN_KEYS
from blogsmith.render.code import _languages
from blogsmith.syntax.cells.option_values import KEYS as CELL_KEYS
from blogsmith.syntax.kinds import ROWS
from blogsmith.tex.convert import convert_formula
from blogsmith.tex.errors import TexError
from tests.docs_sources import ROOT
from tests.rows import each_row, examples

KINDS = [name for row, others in ROWS for name in (row.name, *others)]
SETTINGS = [*Config.__struct_fields__]
HEAD_KEYS = sorted(KNOWN_KEYS)
SHORTCODES = ["arxiv", "code", "gist", "image-compare", "img", "include", "mermaid", "video-embed"]
ARGUMENTS = [
    "alt",
    "after",
    "before",
    "caption",
    "class",
    "cols",
    "id",
    "label",
    "link",
    "src",
    "title",
    "width",
]
DATA_ARGUMENTS = [f"data-{name}" for name in ARGUMENTS]
FILES = [
    "a.svg",
    "attention.md",
    "cover.svg",
    "/own.css",
    "plot.svg",
    "posts/first.md",
    "refs.bib",
    "talk.mp4",
]
LABELS = ["eq:a", "eq:loss", "eq:score", "fig-curve", "fig-loss", "tab-1", "tab-2", "thm:main", "the-meaning"]
KEYS = ["goodfellow2014", "he2016a", "shaw2018", "vaswani2017"]

TYPOS: Sequence[tuple[Sequence[str], str]] = (
    (
        KINDS,
        """
        NOET note, noet note, nte note, infos info, tpi tip, TIPP tip, hnit hint,
        imporant important, improtant important, imprtant important, WARNNIG warning,
        warnign warning, waring warning, warnings warning, cauton caution, CAUTOIN caution,
        dagner danger, eror error, errror error, sucess success, succes success, qustion question,
        quesiton question, abstact abstract, sumary summary, exmaple example, exampel example,
        examples example, qoute quote, definiton definition, defintion definition, def definition,
        THEROEM theorem, theorm theorem, theorems theorem, lema lemma, corrolary corollary,
        corolary corollary, propositon proposition, propsition proposition, remakr remark, prof proof,
        proofs proof, atention attention, failrue failure
        """,
    ),
    (
        SETTINGS,
        """
        titel title, tilte title, desciption description, desc description, autor author,
        orcid orcids, licence license, baseurl base_url, base-url base_url, baseURL base_url,
        langauges languages, language languages, themes theme, theme-options theme_options,
        ouput output, time_zone timezone, timezon timezone, permalink permalinks,
        paginaton pagination, pagniation pagination, feed feeds, serach search,
        social-cards social_cards, numberng numbering, plugin plugins, callout callouts,
        callotus callouts, theorem theorems, image images, bibliograhy bibliography,
        citation citations, comment comments, analitics analytics, diagnostic diagnostics,
        dignostics diagnostics, exectue execute, secuirty security, section sections, Title title
        """,
    ),
    (
        HEAD_KEYS,
        """
        tittle title, tgas tags, tag tags, list listing, Tags tags, categorys category,
        catagories categories, descripton description, auhtor author, alias aliases, dat date,
        layot layout, seires series, drafts draft, readingTime reading_time,
        reading-time reading_time, sub_title subtitle, permalnk permalink, referneces references,
        biblography bibliography
        """,
    ),
    (
        SHORTCODES,
        """
        imgg img, arxv arxiv, gists gist, inlcude include, video-embd video-embed,
        videoembed video-embed
        """,
    ),
    (
        ARGUMENTS,
        """
        scr src, captoin caption, captions caption, widht width, tilte title, columns cols, atl alt,
        lable label
        """,
    ),
    (
        DATA_ARGUMENTS,
        """
        data-captoin data-caption, data-columns data-cols, data-lable data-label, dat-src data-src
        """,
    ),
    (
        FILES,
        """
        atention.md attention.md, plto.svg plot.svg, pot.svg plot.svg, ref.bib refs.bib,
        own.css /own.css, tlak.mp4 talk.mp4, posts/frist.md posts/first.md, first.md posts/first.md
        """,
    ),
    (
        LABELS,
        """
        eq:scroe eq:score, eq-score eq:score, eq:los eq:loss, fig-curv fig-curve, fig:loss fig-loss,
        meaning the-meaning, thm:man thm:main
        """,
    ),
    (
        KEYS,
        """
        vasvani2017 vaswani2017, Vaswani2017 vaswani2017, vaswani-2017 vaswani2017, shaw shaw2018,
        goodfelow2014 goodfellow2014, shaw2019 shaw2018
        """,
    ),
    (
        CELL_KEYS,
        """
        ecoh echo, evla eval, tiemout timeout, fallbak fallback, lable label, need needs
        """,
    ),
)
"""Names that there are → typed words, each with the name that the hint proposes."""
UNRELATED: Sequence[tuple[Sequence[str], str]] = (
    (
        KINDS,
        """
        SCHOLIUM, scholium, lecture, aside, recipe, postulate, slogan, motto, glossary, dialogue,
        history, insight, spoiler, details, morning, section, notebook, mention, motivation,
        station, picture, test, video, vote, take, x, ?, 42
        """,
    ),
    (
        SETTINGS,
        """
        port, host, url, name, logo, favicon, menubar, footer, header, date, color, font, minify,
        words, site
        """,
    ),
    (
        HEAD_KEYS,
        """
        venue, weight, rating, color, hero, banner, difficulty, audience, isbn, location, speaker,
        mood, data, late, summry
        """,
    ),
    (SHORTCODES, "youtube, tweet, mermaids-tale, figure, map, ref, chart, gallery, button"),
    (ARGUMENTS, "height, loading, style, poster, fetchpriority, color, it, s, background"),
    (FILES, "b.svg, d.svg, attention.html, own.js, first.txt, /posts/, c.md, video.mp4"),
    (LABELS, "eq:b, eq:row, fig-3, tab-3, sec:loss-landscape, lemma:main"),
    (KEYS, "he2016b, shannon1948, kingma2015, lecun1998"),
)
"""Names that there are → typed words for which a hint proposes none of them."""


def typo_rows() -> list[tuple[str, Sequence[str], str | None]]:
    """Return (typed, names, expected)."""
    rows = []
    for names, text in TYPOS:
        for entry in " ".join(text.split()).split(","):
            typed, expected = entry.split()
            rows.append((typed, names, None if expected == "None" else expected))
    rows += [(typed.strip(), names, None) for names, text in UNRELATED for typed in text.split(",")]
    return rows


@each_row(("typed", "names", "expected"), typo_rows())
def test_the_nearest_name(typed: str, names: Sequence[str], expected: str | None) -> None:
    assert nearest(typed, names) == expected


@cache
def tex_hint(typed: str) -> str:
    """Return the hint about an unknown command."""
    try:
        convert_formula(f"\\{typed}", display=True)
    except TexError as error:
        return error.hint
    raise AssertionError(f"\\{typed} is a command")


TEX = """
    alhpa alpha, alpah alpha, alfa alpha, bta beta, gama gamma, epsilom epsilon, lamda lambda,
    lambada lambda, simga sigma, omgea omega, farc frac, sqroot sqrt, sqrtt sqrt, intt int,
    sumn sum, prodd prod, mathbbb mathbb, mathbff mathbf, matcal mathcal, opratorname operatorname,
    operatornam operatorname, rigtharrow rightarrow, rightarow rightarrow, Rigtharrow Rightarrow,
    leftarow leftarrow, infinity infty, inftty infty, partal partial, nabal nabla, thetta theta,
    lefft left, undrebrace underbrace, nrom norm, agrmax argmax, apporx approx,
    varepsilom varepsilon, overlien overline, widehatt widehat, textbff textbf
"""
TEX_UNRELATED = (
    "foo, wrongly, tofu, accent, query, weights, loss, train, divisor, myvector, KL, data, mask, ours, Enc"
)


@each_row(("typed", "expected"), [tuple(entry.split()) for entry in " ".join(TEX.split()).split(", ")])
def test_the_nearest_command(typed: str, expected: str) -> None:
    assert tex_hint(typed).startswith(f"did you mean `\\{expected}`?")


@each_row("typed", TEX_UNRELATED.split(", "))
def test_no_command_is_proposed(typed: str) -> None:
    assert "did you mean" not in tex_hint(typed)


LANGUAGES = """
    pyhton python, pyton python, pythn python, javscript javascript, javascirpt javascript,
    typescipt typescript, haskel haskell, jsno json, yalm yaml, ymal yaml, fortarn fortran,
    scaal scala, kotiln kotlin, rusty rust, bahs bash, markdwon markdown, makefil makefile,
    jula julia
"""
LANGUAGES_UNRELATED = (
    "mermaid, plantuml, vega, wavedrom, excalidraw, katex, outline, prompt, tensor, answer, quiz, chat"
)


def nearest_language(typed: str) -> str | None:
    # a plugin may draw `mermaid`, which Pygments knows
    return nearest(typed, [name for name in _languages(typed[:1].lower()) if name != typed])


@each_row(("typed", "expected"), [tuple(entry.split()) for entry in " ".join(LANGUAGES.split()).split(", ")])
def test_the_nearest_language(typed: str, expected: str) -> None:
    assert nearest_language(typed) == expected


@each_row("typed", LANGUAGES_UNRELATED.split(", "))
def test_no_language_is_proposed(typed: str) -> None:
    assert nearest_language(typed) is None


NO_FIXES = """
    desc description, eqs equation, meaning the-meaning, data-columns data-cols, sqroot sqrt,
    shaw shaw2018, shaw2019 shaw2018, step-1 step-2, fig-3 fig-2, h264 h265, b.svg a.svg,
    first.md posts/first.md, def definition, SOLUTION CAUTION, note vote, warning morning
"""
"""Pairs of names that are too different for a fix, although a hint may propose some of them."""


@each_row(("typed", "name"), [tuple(entry.split()) for entry in " ".join(NO_FIXES.split()).split(", ")])
def test_a_fix_writes_no_other_name(typed: str, name: str) -> None:
    assert not is_typo(typed, name) and confirm_typo(typed, name) is None
    assert Reporter("a.md", [typed]).correct(Place(1), typed, name) is None


@each_row(
    ("typed", "name"),
    [("sofmax", "softmax"), ("WARNNIG", "warning"), ("eq:scroe", "eq:score"), ("Tags", "tags")],
)
def test_a_fix_writes_the_name_of_a_typo(typed: str, name: str) -> None:
    fix = Reporter("a.md", [typed]).correct(Place(1), typed, name)
    assert fix is not None and not fix.is_safe
    assert [(edit.old, edit.new) for edit in fix.edits] == [(typed, name)]


def test_no_other_similarity_is_used() -> None:
    """Every hint compares names here. The lab is for posts and does not import blogsmith."""
    others = ("get_close_matches", "SequenceMatcher(None, word", "levenshtein", "jellyfish", "rapidfuzz")
    files = [one for one in (ROOT / "blogsmith").rglob("*.py") if "lab" not in one.relative_to(ROOT).parts]
    assert [one.name for one in files if any(word in one.read_text("utf-8") for word in others)] == []


def test_every_row_is_here() -> None:
    """The table has at least 120 typos and 80 words that resemble nothing."""
    rows = typo_rows()
    typos = sum(expected is not None for _, _, expected in rows)
    assert typos + TEX.count(",") + LANGUAGES.count(",") >= 120
    others = len(rows) - typos + TEX_UNRELATED.count(",") + LANGUAGES_UNRELATED.count(",")
    assert others >= 80


@each_row(
    ("one", "other", "typos"),
    [("", "ab", (2, 0)), ("abcd", "acbd", (1, 0)), ("kitten", "sitting", (3, 2)), ("ca", "abc", (3, 0))],
)
def test_counting_typos(one: str, other: str, typos: tuple[int, int]) -> None:
    assert count_typos(one, other) == typos


@examples(300)
@given(st.text(max_size=30), st.text(max_size=30))
def test_any_texts_can_be_compared(one: str, other: str) -> None:
    assert (find_similar(one, [other]) is None) == (compare(one, other) is None)
    if one:
        assert find_similar(one, [other, one]) == one


def test_long_lists_and_words() -> None:
    assert nearest("a" * 1000, ["a" * 999]) is None
    assert nearest("sofmax", [*(f"name{number}" for number in range(5000)), "softmax"]) == "softmax"
    assert did_you_mean("sofmax", ["softmax"]) == "did you mean `softmax`?"
    assert did_you_mean("SOLUTION", set(CODES) - {"solution-exercise"}) == ""
