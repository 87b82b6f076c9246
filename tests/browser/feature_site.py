"""A site with all features for scholars and teachers, in every bundled language."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from blogsmith.config.load import CONFIG_NAME
from blogsmith.languages.bundled_languages import bundled_tags
from tests.picture_files import drawing, file_of, scene
from tests.run_sites import STALE
from tests.site_files import build, printed, put

OWN = "en"
LANGUAGES = bundled_tags()
THEMES = ("paper", "terminal")
ORIGIN = "https://blogsmith.example"

_SETTINGS = """\
title: Notes on kernels
author: Bea Ash
base_url: {origin}
theme: {theme}
lang: {own}
languages: {{{languages}}}
theme_options: {{switch: true}}
plugins: [emoji_callouts, mermaid]
pagination: 2
bibliography: refs.bib
citations: {{style: author-year}}
citable: true
license: CC-BY-4.0
orcids: {{Bea Ash: 0000-0002-1825-0097}}
search: true
llms_txt: true
theorems: {{used_in: true, map: true, numbering: shared by section}}
callouts: {{axiom: {{numbered: true}}}}
images: {{lightbox: true}}
comments: {{provider: giscus, repo: a/b, repo_id: R_kg, category: Announcements, category_id: DIC_kw}}
analytics: {{provider: goatcounter, site: notes, consent: ask}}
share: [mastodon, bluesky, email, link]
markup: {{smart_quotes: true}}
"""
_REFERENCES = r"""
@article{ash2011, author = {Ash, Bea and M{\"u}ller, J{\'o}n}, title = {On {BERT} and $\sqrt{d_k}$},
  year = 2011,
  journal = {Journal of Kernels}, volume = 4, pages = {101--118}, doi = {10.5555/jkb.4}}
@inproceedings{coe2015, author = {Coe, Dan}, title = {Bridges}, booktitle = {Bridge Days}, year = 2015,
  eprint = {1501.00001}, archiveprefix = {arXiv}}
@article{coe2015b, author = {Coe, Dan}, title = {More bridges}, journal = {Journal of Kernels}, year = 2015}
@book{ink1999, author = {{Ink Society}}, title = {Ink}, publisher = {Quill}, year = 1999,
  pdf = {https://ink.example/ink.pdf}}
"""
_CODE = """\
# region flash
def scale(d):
    return d**-0.5
# endregion
"""
_HEAD = """\
---
title: Why $\\sqrt{{d_k}}$, {language}
date: 2026-03-03
updated: 2026-04-04
tags: [attention, "{language}"]
categories: [notes]
series: {{name: Basics, part: 1}}
---
"""
_CITATIONS = r"""
## Citations

As [see @ash2011, p. 3; @coe2015] has it, [-@ash2011], and @ink1999 [ch. 2] says;
\citep[see][p. 3]{coe2015,coe2015b}.
A note.[^1] So does another[In the margin.]{.margin} "here".

[^1]: With $x^2$.

> [!MARGIN] History
> Of 1990.
"""
_STATEMENTS = r"""
## Statements

$$ a = \operatorname{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}\right)V \label{eq:a} $$

> [!AXIOM] Choice {#axiom-choice}
> One may choose.

> [!LEMMA] Of $\sqrt{x}$ {#lem-key}
> It holds by {@axiom-choice}.

> [!THEOREM] {#thm-main}
> It holds by {@eq:a}.

> [!PROOF]- Proof of {@thm-main}
> By {@lem-key}.
"""
_CODE_PARTS = r"""
## Code

```python {-2,+3} title="a.py" #lst-a cap="A listing of $x$"
x = 1  # (1)
y = 2
y = 3  # (2)
```

1. First note, $x^2$.
2. Second note.

See {@lst-a}.

<div class="tabs">
<div data-label="NumPy">

```python fold
one = 1
```

</div>
<div data-label="PyTorch">two</div>
</div>

{% include code.html file="src/attn.py" region="flash" cap="A region" %}

```python file="src/attn.py" region="scale"
#| label: scale
#| eval: true
```

```python
#| layout: side
print(scale(4))
```

```python
#| session: sweep
#| sweep: {d: [4, 16], word: [a, b]}
print(word * d)
```

```python
#| needs: cuda
#| fallback: skip
2
```

The value is {= 1 + 1 =}.
"""
_PICTURES = r"""
## Pictures

![A scene](scene.png "A scene"){#fig-scene}

![Light](a.png#only-light) ![Dark](b.png#only-dark)

<div class="gallery" data-cols="2">

![One](a.png "One")

![Two](b.png "Two")

</div>

<div class="image-compare" data-before="a.png" data-after="b.png"></div>

<div class="video-embed" data-src="https://www.youtube.com/watch?v=dQw4w9WgXcQ" data-caption="A film"></div>

```mermaid
graph LR
  A --> B
```

| a | b |
|:--|--:|
| $x$ | 2 |

: Numbers {#tbl-x}

See {@fig-scene} and {@tbl-x}.
"""
_SECOND = """\
---
title: After that, {language}
date: 2026-03-0{day}
series: {{name: Basics, part: {day}}}
tags: [attention]
csl: {csl}
{more}---
By {{@all#thm-main}} and [the first](all/index.md), [@ash2011; @coe2015; @coe2015b].

> [!COROLLARY] {{#cor-{day}}}
> By {{@all#lem-key}}.
"""
_THIRD = "comments: https://mastodon.example/@ada/1\n"


def _files_of(tag: str) -> dict[str, str]:
    end = "md" if tag == OWN else f"{tag}.md"
    second = _SECOND.format(language=tag, day=4, csl="nature", more="")
    third = _SECOND.format(language=tag, day=5, csl="apa", more=_THIRD)
    return {
        f"content/posts/all/index.{end}": _HEAD.format(language=tag)
        + _CITATIONS
        + _STATEMENTS
        + _CODE_PARTS
        + _PICTURES,
        f"content/posts/second.{end}": second,
        f"content/posts/third.{end}": third,
        f"content/publications.{end}": f"---\ntitle: Works, {tag}\npublications: refs.bib\n---\nAll.\n",
    }


def _files(theme: str) -> Mapping[str, str | bytes]:
    tags = ", ".join(f"{tag}: {{}}" for tag in LANGUAGES)
    posts: dict[str, str | bytes] = {}
    for tag in LANGUAGES:
        posts |= _files_of(tag)
    others: dict[str, str | bytes] = {
        CONFIG_NAME: _SETTINGS.format(origin=ORIGIN, theme=theme, own=OWN, languages=tags),
        "refs.bib": _REFERENCES,
        "src/attn.py": _CODE,
        "content/posts/all/scene.png": file_of(scene()),
        "content/posts/all/a.png": file_of(drawing(640, 480)),
        "content/posts/all/b.png": file_of(drawing(640, 480).rotate(180)),
    }
    return posts | others


def build_features(root: Path, theme: str) -> None:
    """Write the site with a theme, in all languages, and build it to `public`."""
    put(root, _files(theme))
    report = build(root, execution=STALE)
    assert report.ok, printed(report)
