"""Bibliographies: BibTeX as people write it, publications, and the cost of hostile files."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blogsmith.bibliography.bibliography_file import BibtexFile, CslJsonFile
from blogsmith.bibliography.bibtex_index import index_bibtex
from blogsmith.bibliography.latex import convert_latex, plain_text
from blogsmith.bibliography.works import read_names
from blogsmith.build.incremental import UpdateRequest
from blogsmith.model.publications import Person, Publication
from blogsmith.render.citations.csl_style import split_locator
from tests.build_scripts import compare
from tests.preview_sites import built, new_line, outputs, problems, settled
from tests.rows import each_row, examples, thinned
from tests.site_files import build, printed, put_bare
from tests.test_preview_line import write

LIMIT_S = 3.0
"""Seconds of processor time for ten megabytes of any input: linear, on a busy machine."""


def work(entry: str, key: str = "k") -> Publication:
    """Return the publication of an entry."""
    found = BibtexFile("refs.bib", entry).find(key)
    assert found and found.work
    return found.work


def messages(entry: str, key: str = "k") -> list[str]:
    """Return its diagnostics as `line:column message`."""
    file = BibtexFile("refs.bib", entry)
    found = file.find(key)
    told = (*file.problems(), *(found.diagnostics if found else ()))
    return [f"{d.place.line}:{d.place.column} {d.message}" for d in told if d.place]


@each_row(
    ("tex", "text"),
    [
        (r"Schr{\"o}dinger and Erd\H{o}s", "Schrödinger and Erdős"),
        (r"\'{E}t\'e \c{c}a \~n \v{s} \u{g} \aa{} {\o} \ss \L{}", "Été ça ñ š ğ å ø ßŁ"),
        (r"na{\"\i}ve", "naïve"),
        ("pages 3--4 --- ``so'' it is, isn't it", "pages 3–4 — “so” it is, isn’t it"),
        (r"R\&D, 50\%, a\_b, \#1", "R&D, 50%, a_b, #1"),
        (r"\emph{Homo} \textbf{x}", "<i>Homo</i> <b>x</b>"),
        (r"{\em so} not so", "<i>so</i> not so"),
        (r"H\textsubscript{2}O", "H<sub>2</sub>O"),
        (r"On $\sqrt{d_k}$ and \(n^2\)", r"On $\sqrt{d_k}$ and $n^2$"),
        (r"costs \$5", r"costs \$5"),
        (r"\href{https://a.b}{here} \url{https://x.y/z_1}", "here https://x.y/z_1"),
        (r"\LaTeX{} and \TeX", "LaTeX and TeX"),
        ("a {very {deep}} b", "a very deep b"),
        ("too } many {", "too many"),
        ("ends in \\", "ends in"),
    ],
)
def test_latex(tex: str, text: str) -> None:
    assert convert_latex(tex)[0] == text


def test_braces_protect_capitals_of_titles() -> None:
    title = work(r"@book{k, title={The {BERT} of {\"O}l and {{T}ensors}}}").variables["title"]
    nocase = '<span class="nocase">{}</span>'
    assert title == f"The {nocase.format('BERT')} of Öl and {nocase.format('Tensors')}"


@each_row(
    ("tex", "people"),
    [
        ("Ada Lovelace", [Person("Lovelace", "Ada")]),
        ("Lovelace, Ada and Vincent van Gogh", [Person("Lovelace", "Ada"), Person("Gogh", "Vincent", "van")]),
        ("de la Vall{\\'e}e Poussin, Charles", [Person("Vallée Poussin", "Charles", "de la")]),
        ("King, Jr., Martin Luther", [Person("King", "Martin Luther", "", "Jr.")]),
        ("{Barnes and Noble}", [Person(literal="Barnes and Noble")]),
        ("{\\'E}. Galois and\nK. F. Gau{\\ss}", [Person("Galois", "É."), Person("Gauß", "K. F.")]),
        ("Plato", [Person("Plato")]),
    ],
)
def test_names(tex: str, people: list[Person]) -> None:
    assert read_names(tex) == (tuple(people), False)


def test_others() -> None:
    assert read_names("Doe, Jane and others") == ((Person("Doe", "Jane"),), True)


def test_strings_and_joined_values() -> None:
    strings = '@string{a = "Journal"} @string{b = a # { of Things}}'
    text = strings + '@article{k, journal = b # ", " # 7, month = jun}'
    assert work(text).variables["container-title"] == "Journal of Things, 7"


def test_crossref_gives_what_is_missing() -> None:
    text = "@inproceedings{k, crossref={p}, title={A}}\n@proceedings{p, title={P}, year=1999, publisher={X}}"
    found = work(text)
    assert (found.variables["container-title"], found.year, found.variables["publisher"]) == (
        "P",
        "1999",
        "X",
    )


def test_what_is_broken_costs_itself_alone() -> None:
    text = "@article{a, title={open,\n year=1\n\n@book{k, title={Whole}}\n"
    assert work(text).title == "Whole"
    assert messages(text) == ['1:1 missing "}" at the end of this entry']


@each_row(
    ("entry", "told"),
    [
        ("@book{k, title={A} year=1}", '1:20 missing comma after field "title"'),
        ("@book{k, title=abc}", '1:16 unknown @string "abc"'),
        ("@book{k,\n title {A}}", '2:2 missing "=" after "title"'),
        ("@book{k, doi={x}}", '1:15 invalid DOI "x": expected "10." at the start'),
        (
            "@book{k, url={javascript:x}}",
            '1:15 invalid URL "javascript:x": expected http or https, so it is not linked',
        ),
        ("@book{k, title={a \\foo{b}}}", '1:19 unsupported command "\\foo" in field "title" is omitted'),
        ("@book{k, crossref={k}}", '1:20 invalid crossref: "k" refers back to this entry'),
        ("@book{k, crossref={x}}", '1:20 invalid crossref: "x" is not an entry of this file'),
        ("@book{k,}\n@book{k,}", '2:7 duplicate key "k": only the first entry is used'),
        ("@book{k,}\n@book{}", "2:1 missing key of this entry"),
    ],
)
def test_mistakes_have_their_place(entry: str, told: str) -> None:
    assert messages(entry) == [told]


def test_circles_end() -> None:
    text = "@a{k, crossref={b}}\n@a{b, crossref={c}}\n@a{c, crossref={k}}"
    assert messages(text) == ['3:17 invalid crossref: "k" refers back to this entry']


def test_json_that_is_none() -> None:
    file = CslJsonFile("refs.json", '[{"id": "a",}]')
    (found,) = file.problems()
    assert found.message == "invalid JSON: unexpected comma after the last entry"
    assert found.place and (found.place.line, found.place.column) == (1, 12)
    assert CslJsonFile("refs.json", "[" * 100_000).problems()


HOSTILE = {
    "deep braces": "@article{k, title={" + "{" * 5_000_000 + "}" * 5_000_000 + "}}",
    "open braces": "@article{k, title={" + "{" * 10_000_000,
    "open entries": "@article{k,\n" * 800_000,
    "entries in a line": "@a{k,}" * 1_600_000,
    "doubling strings": "".join(
        f"@string{{s{n} = s{n - 1} # s{n - 1}}}\n" if n else '@string{s0 = "xxxxxxxxxx"}\n' for n in range(60)
    )
    + "@a{k, title = s59}",
    "backslashes": "@a{k, title={" + "\\" * 10_000_000 + "}}",
    "dollars": "@a{k, title={" + "$" * 10_000_000 + "}}",
    "accents": "@a{k, title={" + "\\'" * 3_000_000 + "}}",
    "names": "@a{k, author={" + "A and " * 1_500_000 + "B}}",
    "commas": "@a{k, author={" + "," * 5_000_000 + "}}",
    "blanks": "@a{k," + " " * 10_000_000 + "}",
    "at signs": "@" * 10_000_000,
}


@pytest.mark.parametrize("name", thinned(HOSTILE, every=3))
def test_ten_megabytes_of_anything_are_harmless(name: str) -> None:
    started = time.process_time()
    file = BibtexFile("refs.bib", HOSTILE[name])
    file.find("k")
    assert time.process_time() - started < 4 * LIMIT_S
    assert len(file.problems()) <= 20


@given(st.text(alphabet="@{}()\"#=,%\\$~'` \nabk12", max_size=200))
@examples(200)
def test_nothing_raises(text: str) -> None:
    file = BibtexFile("refs.bib", f"@book{{k, title={{{text}}}, author={{{text}}}, year={text}\n{text}")
    for key in file.keys:
        file.find(key)
    plain_text(text)
    index_bibtex(text)


@each_row(
    ("written", "split"),
    [
        ("p. 3", ("page", "3")),
        ("pp. 3–4, 7", ("page", "3–4, 7")),
        ("12", ("page", "12")),
        ("ch. 2", ("chapter", "2")),
        ("§ 4.1", ("section", "4.1")),
        ("Theorem 3", ("custom", "Theorem 3")),
        ("", ("", "")),
    ],
)
def test_places_in_works(written: str, split: tuple[str, str]) -> None:
    assert split_locator(written) == split


BIB = "@book{one, title={One}, year=2001}\n\n@book{two, title={Two}, year=2002}\n"
SITE = {
    "blogsmith.yaml": "title: T\n",
    "content/posts/refs.bib": BIB,
    "content/posts/a.md": "---\ntitle: A\nbibliography: refs.bib\n---\n[@one]\n",
    "content/posts/b.md": "---\ntitle: B\nbibliography: refs.bib\n---\n[@two]\n",
    "content/posts/c.md": "---\ntitle: C\n---\nNothing.\n",
}


def test_a_changed_entry_makes_the_pages_anew_that_cite_it(tmp_path: Path) -> None:
    root = put_bare(tmp_path / "site", SITE)
    assert compare(root).ok
    write(root / "content/posts/refs.bib", f"% moved down\n\n{BIB.replace('Two', 'Second')}")
    report = compare(root)
    assert dict(report.rebuilt) == {"content/posts/b.md": 'the reference "two" has changed'}
    assert "Second" in (root / "public/posts/b/index.html").read_text()


@pytest.mark.parametrize("path", ["content/posts/refs.bib", "refs.bib"])
def test_the_preview_follows_a_bibliography(path: str, tmp_path: Path) -> None:
    files = {name: text for name, text in SITE.items() if not name.endswith(".bib")}
    files = {**files, path: BIB}
    if path == "refs.bib":
        files["content/posts/a.md"] = SITE["content/posts/a.md"].replace("refs.bib", "/refs.bib")
    root = put_bare(tmp_path / "site", files)
    line = new_line(root)
    present = settled(line)
    for text in (BIB.replace("One", "First"), f"% none\n{BIB}", BIB.replace("one", "other"), BIB):
        write(root / path, text)
        present = settled(line, present, UpdateRequest((path,), everything=False))
        report = build(root, output=root.parent / "public", keep_going=True)
        assert [d.message for d in problems(present)] == [d.message for d in report.diagnostics]
        if report.ok:
            assert outputs(present) == built(root.parent / "public")


def test_a_bibliography_outside_of_content(tmp_path: Path) -> None:
    config = "title: T\nbibliography: all.bib\n"
    files = {**SITE, "all.bib": BIB.replace("two", "three"), "blogsmith.yaml": config}
    root = put_bare(tmp_path / "site", {**files, "content/posts/c.md": "---\ntitle: C\n---\n[@three]\n"})
    assert compare(root).ok
    time.sleep(0.06)
    assert compare(root).written == 0
    write(root / "all.bib", BIB.replace("two", "three").replace("Two", "Third"))
    assert set(compare(root).rebuilt) == {"content/posts/c.md"}
    (root / "all.bib").unlink()
    report = compare(root)
    assert not report.ok
    assert 'bibliography not found: "all.bib"' in printed(report)


def test_nothing_outside_of_the_site_is_read(tmp_path: Path) -> None:
    (tmp_path / "secret.bib").write_text(BIB)
    root = put_bare(tmp_path / "site", {**SITE, "blogsmith.yaml": "title: T\n"})
    (root / "content/posts/link.bib").symlink_to(tmp_path / "secret.bib")
    for written in ("../../../secret.bib", "/../secret.bib", str(tmp_path / "secret.bib"), "link.bib"):
        head = f"---\ntitle: A\nbibliography: {written}\n---\n[@one]\n"
        write(root / "content/posts/a.md", head)
        assert not build(root).ok
