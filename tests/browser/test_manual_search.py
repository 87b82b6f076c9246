"""The search of our own site finds the manual's page for the terms of readers."""

from __future__ import annotations

from tests.test_manual_terms import manual_terms

from .conftest import Served
from .reader import Reader
from .test_search import POST, ask_index

FEWEST = 128
"""Minimum number of the 135 terms whose page must be among the first three hits."""
HITS = """
const firstHits = async (term) => (await index.findWords(term)).slice(0, 3).map(({url}) => url);
return Promise.all(arguments[0].map(firstHits));
"""


def test_the_right_page_is_among_the_first_hits(own_site: Served, reader: Reader) -> None:
    wanted = manual_terms()
    reader.open(own_site.url(POST))
    found = ask_index(reader, HITS, [term for term, _ in wanted])
    assert isinstance(found, list)
    missed = [
        (term, page, hits)
        for (term, page), hits in zip(wanted, found, strict=True)
        if f"/docs/{page}/" not in {hit.partition("#")[0] for hit in hits}
    ]
    assert len(wanted) - len(missed) >= FEWEST, missed
