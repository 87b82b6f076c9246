"""Every diagnostic code with its meaning. The manual's page of errors is generated from this table.

A code is stable, because authors search for it and silence warnings by it. Add a row here together with the
first use of a code, and a row under `tests/broken/` that shows it. A row says "warn" where the code has
warnings; `LOWERABLE` lists the codes whose errors may be lowered.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

CODES: Mapping[str, str] = MappingProxyType(
    {
        # reading
        "encoding": "A text file is not valid UTF-8 or holds a NUL character.",
        "file-too-large": "A Markdown or settings file is larger than any post should be.",
        "symlink": "A symbolic link leads out of the site, to hidden files, nowhere, or in a circle.",
        "private-file": "A published file holds a key or secrets, or names folders of a machine (warning).",
        "merge-conflict": "A post, a bibliography or blogsmith.yaml has an unresolved merge conflict.",
        "twin-files": "Two file names differ only in case or Unicode form: one file on many systems.",
        "twin-posts": "Two posts have one name but for its ending, and would share recorded results.",
        "updated-git": "The history of a file does not say when it was changed (warning).",
        "unreadable": "A file cannot be opened, or is not a regular file.",
        # configuration and front matter
        "alias": "An alias is not the path of an address on this site.",
        "config-key": "blogsmith.yaml has a setting that does not exist.",
        "config-missing": "There is no blogsmith.yaml: the folder is not a site.",
        "config-value": "A setting has a value of the wrong type or out of its range.",
        "csp-stopped": "A page of untrusted posts holds what its Content-Security-Policy stops (warning).",
        "date": "A date is no date, or no day that exists; `updated` before `date` is a warning.",
        "duplicate-url": "Two pages, or a page and an alias, have the same address.",
        "front-matter-key": "A front matter key is misspelt, or another generator's (warning).",
        "front-matter-unknown": "A front matter key has a value that means nothing here (warning).",
        "front-matter-open": "The front matter has no end, is not at the start of the file, or is not YAML.",
        "front-matter-rule": "A page does not keep to what `sections` says of its front matter (warning).",
        "front-matter-value": "A front matter key has a value of the wrong type or form.",
        "slug": "A slug, or a file name a slug is made from, cannot be part of an address.",
        "language-key": "A translation is of a text that no page prints (warning).",
        "language-value": "A file in `languages/` is no list of translations, or one has an unknown place.",
        "page-protected": "A front matter key restricts who may read a page, which blogsmith cannot do.",
        "permalink": "A page asks for an address that it cannot have.",
        "yaml-comment": "An argument `#1` behind a blank is a comment, not part of the TeX (warning).",
        "yaml-duplicate-key": "A key is given twice in one mapping.",
        "yaml-escape": "A backslash in double quotes makes something else than the TeX that is meant.",
        "yaml-feature": "YAML uses what is not accepted here: aliases, tags, several documents, huge values.",
        "json-syntax": "Front matter in JSON cannot be read.",
        "toml-syntax": "Front matter in TOML cannot be read.",
        "yaml-syntax": "YAML cannot be read.",
        # sites of other systems
        "import-into": "The folder of an import and its source lie in each other.",
        "import-source": "The site to import is not there, or its settings cannot be read.",
        "import-system": "No known system made the folder to import, or a system's name is unknown.",
        # Markdown
        "attribute": "An attribute list or a block holds an attribute that is not allowed there.",
        "callout-doubtful": "A text looks like a callout and is none, or a callout has no text (warning).",
        "callout-kind": "A callout has a kind that nobody declared; it gets the default look (warning).",
        "div-content": "A block that only carries data holds text.",
        "div-unknown": "A `<div>` has the data of a block, but no block of its name is known (warning).",
        "div-open": "A block `<div>` has no closing `</div>`.",
        "footnote-place": "A footnote mark stands in an argument of a shortcode.",
        "footnote-twice": "A footnote is defined twice.",
        "footnote-undefined": "A footnote mark has no text.",
        "footnote-unused": "A footnote is never referred to (warning).",
        "foreign-file": "A text of another system makes no page and is published as it is (warning).",
        "foreign-syntax": "The syntax of another generator has no meaning here and is text (warning).",
        "html-element": "A tag is of no element that browsers know, such as `<d-cite>` (warning).",
        "html-markdown": "An element asks for Markdown where none is read (warning).",
        "html-remote": "HTML of a post loads a script, a frame or a film from another host before a click.",
        "heading-h1": "A post has a second H1; it becomes an H2 (warning).",
        "id-twice": "An id stands twice in a page.",
        "nesting": "Quotes, lists or brackets are nested deeper than anybody could read.",
        "shortcode-argument": "An argument of a shortcode is wrong, missing, unknown or given twice.",
        "shortcode-name": "A shortcode has no name.",
        "shortcode-open": "A shortcode or `{% raw %}` is never closed.",
        "shortcode-place": "A shortcode that makes a block stands in a heading or title.",
        "shortcode-unknown": "There is no shortcode of this name.",
        "tabs": "A block of tabs holds text beside its parts, or a part has no label or no text.",
        "table-cells": "A row has more cells than its table, or a page lacks too many cells to fill them in.",
        # mathematics
        "dollar-doubtful": "A sign of a formula may be meant for text, or the reverse (warning).",
        "math-brace": "A brace, \\left or \\begin in a formula has no partner.",
        "math-command": "A formula uses a TeX command or environment that does not exist.",
        "math-dollar": "A pair of dollar signs is text because a digit follows the second (warning).",
        "math-escape": "A formula holds `\\_` or doubled row ends, as if for Markdown (warning).",
        "math-in-sentence": "A `$$` formula between words is a display and breaks the sentence (warning).",
        "math-limit": "A formula is too long, too deep or has too many open brackets.",
        "math-macro": "A macro is defined wrongly, lacks an argument or never ends.",
        "math-syntax": "A formula is not valid TeX.",
        "math-unclosed": "A formula is never closed; a lone `$$` or `\\(` in a line is text (warning).",
        # code
        "code-language": "The language of a code fence is unknown; the code is shown plain (warning).",
        "code-plain": "A code fence is too slow or too wide to highlight and is shown plain (warning).",
        "diagram": "A diagram is written wrongly and cannot be drawn.",
        "diagram-source": "A diagram has no renderer; its source is shown (warning).",
        "include-file": "A file of which a post shows a part is missing, or may not be shown.",
        "include-region": "An included file has no such region, function or lines.",
        "hidden-character": "Text holds a character that no page may hold, or code an unseen one (warning).",
        "code-mark": "A mark in code has no note below it, or a note no mark (warning).",
        "fence-info": "A code fence has a word or setting that means nothing (warning).",
        "fence-open": "A code fence is never closed, so all that follows is code (warning).",
        # running code
        "cell-alt": "A picture that a cell draws has neither alt text nor caption (warning).",
        "cell-assert": "An assertion that a comma makes always true; in a claim an error, else a warning.",
        "cell-browser": "Code for readers' browsers imports what is not there, or cannot be run (warning).",
        "cell-died": "A cell ended its whole process.",
        "cell-error": "A cell ends in an exception.",
        "cell-exit": "A cell ends its process in order, before its code ends.",
        "cell-diff": "A cell marks lines as removed, but runs all that it shows.",
        "cell-fallback": "`fallback` names no other cell of the page that runs.",
        "cell-figure": "A cell has a caption or an alt text and draws no picture (warning).",
        "cell-language": "A cell is in a language that is not run (warning), or not in that of its page.",
        "cell-magic": "A cell holds a command of IPython, which is no Python.",
        "cell-memory": "A cell uses more memory than it may.",
        "cell-need": "A cell needs what this machine lacks, and no result of it is recorded.",
        "cell-option": "An option of a cell does not exist or has a wrong value; one without effect warns.",
        "cell-pending": "A cell was never run, and may not be run now (warning).",
        "cell-picture": "A recorded picture is missing or cannot be shown.",
        "cell-preload": "A module that all sessions are to share cannot be imported (warning).",
        "cell-shape": "A shape written in a comment is not the shape of the value.",
        "cell-stale": "A recorded result is older than the code, and may not be made anew (warning).",
        "cell-start": "The process that runs cells cannot start.",
        "cell-sweep": "A sweep of a cell is written wrongly, or has more values than it may have.",
        "cell-syntax": "The code of a cell is not valid Python.",
        "cell-table": "A cell has a caption or a label of a table and shows none (warning).",
        "cell-timeout": "A cell runs longer than it may.",
        "cell-versions": "A result was recorded with other versions of packages (warning).",
        "claim-false": "A claim does not hold.",
        "freeze-archive": "An archive of recorded results cannot be written, or is none.",
        "freeze-damaged": "A recorded result cannot be read and counts as missing (warning).",
        "freeze-stale": "A result is missing or stale, and `--frozen` forbids to run the code.",
        "freeze-write": "Recorded results cannot be written: disk full, no permission, name too long.",
        "need-unmet": "`--needs` names what this machine lacks, or what no cell needs.",
        "output-html": "The HTML of a value holds what is not shown, e.g. a script (warning).",
        "output-latex": "The LaTeX of a value cannot be typeset and is shown as text (warning).",
        "post-unknown": "A command names a post that the site does not have.",
        "pyodide-folder": "The folder with Python for browsers lacks a file or a package.",
        "pyodide-vendor": "Python for browsers cannot be copied: no network, a wrong checksum or version.",
        "value-error": "A value in the text cannot be computed.",
        "value-open": "A `{= ` has no closing `=}` and is text (warning).",
        "value-place": "A `{= … =}` stands where no value can stand.",
        "value-syntax": "A `{= … =}` holds no expression, or a wrong format.",
        # images and embeds
        "captions": "The captions of a video are no file of WebVTT.",
        "embed-host": "A video is on a host that the site does not allow.",
        "gallery": "A gallery has a number of columns that there is not, or holds no image (then a warning).",
        "image-fetch": "The copy of an image at another host is missing, has changed or cannot be made.",
        "image-large": "A picture is so heavy that readers on a phone would rather not have it (warning).",
        "image-location": "A photo carries the position where it was taken into the site (warning).",
        "image-metadata": "What a picture or film tells besides cannot be taken out (warning).",
        "image-missing": "An image names a file that does not exist.",
        "image-record": "A line of `remote-images.txt` cannot be read.",
        "image-remote": "An image is on another host; a site may allow it, or show a copy.",
        "image-sizes": "The two images of a slider differ in size (warning).",
        "image-unreadable": "A file used as an image is not one, or is damaged or too large.",
        "svg-active": "An SVG file holds scripts, or loads something from elsewhere (warning).",
        "image-width": "The width or height of an image is not a length; in HTML a warning.",
        # links and references
        "bibliography-entry": "An entry of a bibliography cannot be read whole; a warning if it is usable.",
        "bibliography-file": "A bibliography is not there, or cannot be read.",
        "citation-key": "A citation names a reference that the post does not list.",
        "citation-style": "A style of citations is not there, or cannot be used.",
        "citation-unused": "A reference is never cited (warning).",
        "label-twice": "A label is given to two things, or two labels to one.",
        "label-unnumbered": "A label stands at a formula that shows no number (warning).",
        "link-anchor": "A link leads to an anchor that its page does not have.",
        "link-length": "The addresses of a page's links and images are longer together than any page's.",
        "link-missing": "A link leads to a page or file that does not exist.",
        "link-scheme": "A link leads to an address that is neither a page nor http, https, mailto or tel.",
        "link-unpublished": "A link leads to a draft or to a post dated in the future.",
        "ref-kind": "A reference begins with a word that is no kind of label.",
        "ref-page": "A reference names a post that does not exist or is not published.",
        "proof-circle": "Proofs use each other's statements in a circle.",
        "ref-undefined": "A reference names a label that nothing has.",
        "ref-unnumbered": "A reference leads to a formula that shows no number (warning).",
        "series-part": "Two posts are the same part of a series, or a part is of no series (warning).",
        "translation": "Two pages are one page in one language, or a file and its head say different ones.",
        "term": "A tag or category has no letter or digit, so it gets no page (warning).",
        "search-engine": "Pagefind, which the site has chosen for its search, is not there or fails.",
        # lint warnings, reported by `blogsmith check` only
        "film-captions": "A film with sound has no captions (warning).",
        "heading-empty": "A heading has no text (warning).",
        "heading-level": "A heading is more than one level below the one before it (warning).",
        "image-alt": "An image has neither alt text nor caption (warning).",
        "label-unused": "Nothing refers to the label of an equation, a figure or a table (warning).",
        "link-text": "The text of a link is missing, or says nothing of where it leads: `here` (warning).",
        "macro-bypassed": "A formula writes out what a macro is declared for (warning).",
        "macro-unused": "A macro is declared and never used (warning).",
        "notation-mixed": "A formula does not use the notation that `math.symbols` declares (warning).",
        "series-missing": "A title or subtitle says `Part 2 of 4`, but the post is in no series (warning).",
        "table-header": "A table has no cell that names a column or a row (warning).",
        "term-spelling": "Two posts spell a tag or category differently (warning).",
        # reported by `blogsmith check --budget`, `--links` and `--second-opinion`
        "budget": "A page weighs more, or asks for more, than the settings under `budget` say (warning).",
        "link-dead": "The page that a link leads to is gone: 404 or 410 (warning).",
        "link-fragment": "The page of another host that a link leads to has no such id (warning).",
        "link-moved": "The page that a link leads to has moved for good (warning).",
        "link-unreachable": "The host of a link does not answer, or answers with an error (warning).",
        "math-second-opinion": "latex2mathml reads a formula differently (warning).",
        # templates and plugins
        "plugin": "A plugin fails, with the line of its file.",
        "plugin-import": "A plugin of the site imports code of it that `blogsmith trust` does not cover.",
        "plugin-missing": "There is no plugin of this name, in the site or bundled.",
        "plugin-untrusted": "A site's own plugin may not run before `blogsmith trust`.",
        "trust-write": "Trust in a site's code cannot be recorded.",
        "theme-missing": "There is no theme of this name, in the site or bundled.",
        "theme-value": "A `theme.yaml` or the name of a theme is wrong.",
        "card-font": "The font of social cards belongs to a site that is not trusted (warning).",
        "theme-file": "The theme has no such file to copy, or a site has no place for it.",
        "layout-unknown": "A page asks for a layout that there is not, and gets that of its kind (warning).",
        "build-executor": "Pages cannot be made by the cluster that `build.executor` asks for.",
        "page-process": "A process that makes pages was ended, as by a lack of memory.",
        "page-slow": "The live preview gives up making a page; it stays as it was last.",
        "template": "A template of the site, the theme or a plugin is wrong.",
        "template-block": "A template fills a block that what it extends does not have (warning).",
        "template-limit": "A template never ends, or does more than the templates of one page may.",
        # output
        "busy": "Another blogsmith is writing the same site.",
        "output-conflict": "Two files of the site would have the same path on some file system.",
        "output-folder": "The output folder is not one that blogsmith may replace.",
        "output-foreign": "A file that blogsmith did not write stands where it wants to write.",
        "output-write": "The output cannot be written: disk full, no permission, name too long.",
        "book-empty": "There is no page, or no series, to make a book of.",
        "file-exists": "A new site, post, theme or copy would replace something that is already there.",
        "new-name": "A title or a section of a new post cannot be turned into a file name.",
        "new-write": "A new site or post cannot be written to disk.",
        # publishing
        "publish-base-url": "A host cannot show the site at its `base_url` (warning), or there is none.",
        "publish-file": "A file for a host cannot be read or written.",
        "publish-git": "git cannot commit or push the pages, or the branch has other content.",
        "publish-install": "The files with which a host installs blogsmith cannot be resolved or installed.",
        "publish-lock": "The lock of a published site does not fit the site or its wheel.",
        "publish-name": "A name holds a sign that no settings of a host can have.",
        "publish-pages": "A host would publish other files than those that are built here.",
        "publish-repository": "The settings of a host belong to another folder than that of the site.",
        "publish-results": "git is told to leave out recorded results, which other machines show (warning).",
        "publish-target": "A host needs a setting or an option that is missing.",
        "publish-trust": "Publishing runs programs of a site that is not trusted.",
    }
)

CELL_CODES = frozenset(
    code for code in CODES if code.partition("-")[0] in ("cell", "claim", "include", "value")
)
"""Codes of errors in cells, in their claims and files, and in values. A page with one of them runs no cell.
"""

LOWERABLE = frozenset(
    {
        *("citation-key", "footnote-undefined", "front-matter-value", "id-twice", "image-missing"),
        *("image-fetch", "image-remote", "image-unreadable", "image-width", "label-twice", "link-anchor"),
        "link-missing",
        *("link-unpublished", "proof-circle", "ref-page", "ref-undefined", "shortcode-unknown"),
    }
)
"""Codes whose errors the settings may lower to warnings. With these errors everything the author wrote stays
visible, and nothing is published or loaded that must not be. Codes of lost text, security, code and formulas
are never among them."""

FIXABLE = frozenset(
    {
        *(
            "alias",
            "attribute",
            "bibliography-file",
            "callout-doubtful",
            "callout-kind",
            "cell-assert",
            "cell-fallback",
        ),
        *(
            "cell-magic",
            "cell-option",
            "citation-key",
            "citation-style",
            "code-language",
            "config-key",
            "config-value",
        ),
        *("date", "div-open", "div-unknown", "dollar-doubtful", "encoding", "fence-info", "fence-open"),
        *("footnote-undefined", "footnote-unused", "foreign-syntax", "front-matter-key", "front-matter-rule"),
        *("front-matter-open", "front-matter-unknown", "front-matter-value", "heading-h1"),
        *("hidden-character", "id-twice", "image-missing", "image-record", "image-width", "include-region"),
        *("cell-magic", "json-syntax", "plugin-missing", "theme-missing", "toml-syntax"),
        *("label-twice", "label-unnumbered", "label-unused", "language-key", "language-value"),
        *("layout-unknown", "link-anchor", "link-missing", "link-scheme", "macro-bypassed", "macro-unused"),
        *("math-command", "math-dollar", "math-escape", "math-in-sentence", "math-syntax", "math-unclosed"),
        *("notation-mixed", "ref-kind", "ref-page", "ref-undefined", "shortcode-argument"),
        *(
            "shortcode-open",
            "shortcode-unknown",
            "slug",
            "template-block",
            "term-spelling",
            "theme-value",
            "value-open",
        ),
        *("yaml-comment", "yaml-duplicate-key", "yaml-escape", "yaml-syntax"),
    }
)
"""Codes with findings that may have a fix: the file shows what was meant, or a similar name exists."""

SITE_CODES = frozenset({"layout-unknown", "output-conflict", "symlink", "twin-files"})
"""Codes of errors about the whole site, although the file that they name is one of its pages."""

PUBLICATION_CODES = frozenset(
    {
        *("date", "front-matter-open", "json-syntax", "merge-conflict", "permalink", "slug", "toml-syntax"),
        *("yaml-duplicate-key", "yaml-escape", "yaml-feature", "yaml-syntax"),
    }
)
"""Codes of errors in front matter that leave it unknown whether and where the page is to be published."""

PROTECTED_CODE = "page-protected"
"""Code of errors that exclude a page from every build, whatever the options."""
RECORD_CODES = frozenset({"cell-pending", "cell-stale", "cell-versions"})
"""Codes of warnings about recorded results, which depend on the machine and not on the document."""

UNREAD_CODES = frozenset({"encoding", "file-too-large", "unreadable"})
"""Codes of errors after which nothing is known about a file."""


def has_warnings(code: str) -> bool:
    """Return whether a code has warnings, which may be silenced."""
    return "warn" in CODES[code]


def documentation_url(manual: str, code: str) -> str:
    """Return the URL of the entry of a code in the manual. manual: URL of the manual; empty: return an empty
    string."""
    return f"{manual.rstrip('/')}/errors/#{code}" if manual else ""
