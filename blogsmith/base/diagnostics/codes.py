"""Every diagnostic code with its meaning.

The manual's page of errors is generated from this table. A code is stable, because authors search for it and
silence warnings by it. Add a row here together with the first use of a code, and a broken site under
`tests/broken/` that shows it. "warn" in a row means that the code has warnings; `LOWERABLE` lists the codes
whose errors the settings may lower to warnings.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

CODES: Mapping[str, str] = MappingProxyType(
    {
        # reading
        "encoding": "A text file is not valid UTF-8, or contains a NUL character.",
        "file-too-large": "A Markdown or settings file exceeds the maximum size.",
        "symlink": "A symbolic link is broken or circular, or points outside the site or to hidden files.",
        "file-unread": "A post, a template or a translation is in a folder that no build reads (warning).",
        "private-file": "A published file contains secrets, or names folders of a machine (warning).",
        "merge-conflict": "A post, a bibliography or blogsmith.yaml has an unresolved merge conflict.",
        "twin-files": "Two file names differ only in case or Unicode form: many systems can store only one.",
        "notebook": "A notebook is damaged: it is not JSON, or has no list of cells.",
        "twin-posts": "Two posts differ only in their file extension, and would share recorded results.",
        "updated-git": "The Git history of a file does not say when it was changed (warning).",
        "unreadable": "A file cannot be opened, or is not a regular file.",
        # configuration and front matter
        "alias": "An alias is not the path of a URL on this site.",
        "config-key": "blogsmith.yaml has a setting that does not exist.",
        "config-missing": "The folder is not a site: it has no blogsmith.yaml.",
        "config-value": "A setting has an invalid value; the name of a language instead of its tag warns.",
        "csp-stopped": "The Content-Security-Policy of untrusted posts blocks a part of the page (warning).",
        "date": "A date is invalid or does not exist; `updated` before `date` is a warning.",
        "duplicate-url": "Two pages, or a page and an alias, have the same URL.",
        "front-matter-key": "A front matter key is misspelt, or belongs to another generator (warning).",
        "front-matter-unknown": "A front matter key has a value that has no effect here (warning).",
        "front-matter-open": "The front matter has no end, is not at the start of the file, or is not YAML.",
        "front-matter-rule": "The front matter of a page breaks the rules in `sections` (warning).",
        "front-matter-value": "A front matter key has a value of the wrong type or form.",
        "url-moved": "The URL of a page changes with `slugs: {marks: switch}` and has no alias (warning).",
        "slug": "A slug, or the file name that it is made from, cannot be part of a URL.",
        "language-key": "A translation has a key that no page uses (warning).",
        "language-value": "A file in `languages/` has an invalid translation, or an unknown placeholder.",
        "page-protected": "A front matter key restricts who may read a page, which blogsmith cannot do.",
        "permalink": "A page sets a URL that it cannot have.",
        "yaml-comment": "An argument `#1` after a space is a comment, not part of the TeX (warning).",
        "yaml-duplicate-key": "A mapping contains a key twice.",
        "yaml-escape": "A backslash in double quotes is an escape and does not give the intended TeX.",
        "yaml-feature": "YAML uses an unsupported feature: aliases, tags, several documents or huge values.",
        "json-syntax": "Front matter is not valid JSON.",
        "toml-syntax": "Front matter is not valid TOML.",
        "yaml-syntax": "A file or front matter is not valid YAML.",
        # sites of other systems
        "import-map": "An entry of `import-map.yaml` is invalid.",
        "import-into": "The target folder of an import is inside its source, or contains it.",
        "import-source": "The site to import does not exist, or its settings cannot be read.",
        "import-system": "The folder to import was made by an unknown system, or a system name is unknown.",
        # Markdown
        "attribute": "An attribute list or a block contains an attribute that is not allowed there.",
        "callout-doubtful": "A passage looks like a callout but is not one, or a callout is empty (warning).",
        "callout-kind": "A callout has a kind that is not declared; it gets the default style (warning).",
        "div-content": "A block that may only contain data contains text.",
        "div-unknown": "A `<div>` has the attributes of a block, but its block name is unknown (warning).",
        "div-open": "A block `<div>` has no closing `</div>`.",
        "emphasis-doubtful": "Asterisks are text, because of the letter or space next to them (warning).",
        "footnote-place": "A footnote reference is in an argument of a shortcode.",
        "footnote-twice": "A footnote is defined twice.",
        "footnote-undefined": "A footnote reference has no definition, or a label with spaces (a warning).",
        "footnote-unused": "A footnote is never referenced (warning).",
        "foreign-file": "A file of another system is not a page and is published unchanged (warning).",
        "foreign-syntax": "The syntax of another generator is not supported and is shown as text (warning).",
        "html-element": "Browsers do not know the element of a tag, such as `<d-cite>` (warning).",
        "html-markdown": "Raw HTML contains Markdown that is not rendered (warning).",
        "html-open": "A `<!--` or an element such as `<details>` is never closed and would hide the rest.",
        "html-remote": "HTML of a post loads a script, a frame or a video from another host before a click.",
        "html-unpaired": "An element of raw HTML has no end tag, or an end tag closes nothing (warning).",
        "heading-doubtful": "A text such as `#Intro` looks like a heading but has no space (warning).",
        "heading-h1": "A post has a second H1; it becomes an H2 (warning).",
        "id-twice": "A page uses an id twice.",
        "nesting": "Quotes, lists or brackets are nested too deeply.",
        "shortcode-argument": "An argument of a shortcode is wrong, missing, unknown or given twice.",
        "shortcode-name": "A shortcode has no name.",
        "shortcode-open": "A shortcode or `{% raw %}` is never closed.",
        "shortcode-place": "A shortcode that makes a block is used in a heading or title.",
        "shortcode-unknown": "A shortcode has an unknown name.",
        "tabs": "A block of tabs contains text outside its tabs, or a tab has no label or content.",
        "table-cells": "A table row or header has the wrong number of cells, or too many cells are missing.",
        # mathematics
        "dollar-doubtful": "A dollar sign may be meant as text, or text as a formula (warning).",
        "math-brace": "A brace, \\left or \\begin in a formula has no partner.",
        "math-command": "A formula uses a TeX command or environment that does not exist.",
        "math-diagram": "A diagram has a style that is not known; it is drawn without it (warning).",
        "math-dollar": "A pair of dollar signs is text because a digit follows the second (warning).",
        "math-escape": "A formula prints something unexpected: `\\_`, `%` or doubled backslashes (warning).",
        "math-in-sentence": "A `$$` formula in a sentence is display math and splits it (warning).",
        "math-limit": "A formula is too long, nested too deeply or has too many open brackets.",
        "math-macro": "A macro has an invalid definition, lacks an argument or expands without end.",
        "math-syntax": "A formula is not valid TeX.",
        "math-unclosed": "A formula is never closed; a single `$$` or `\\(` in a line is text (warning).",
        "math-wide": "A display does not fit a phone although it may shrink and break (warning of `check`).",
        # code
        "code-language": "The language of a code fence is unknown; the code is not highlighted (warning).",
        "code-plain": "A code fence is too slow or too wide to highlight and is shown plain (warning).",
        "diagram": "A diagram has invalid syntax and cannot be drawn.",
        "diagram-source": "A diagram has no renderer; its source is shown (warning).",
        "include-file": "A file to include in a post is missing, may not be shown, or is not a valid CV.",
        "include-region": "The region, function or lines to include do not exist in the file.",
        "hidden-character": "A text contains a forbidden character, or code an invisible one (warning).",
        "code-mark": "A marker in code has no note or is in no comment, or a note has no marker (warning).",
        "fence-info": "A code fence has an unknown keyword or setting, which is ignored (warning).",
        "fence-open": "A code fence is never closed, so the rest of the file is code (warning).",
        # running code
        "cell-alt": "An image that a cell draws has neither alt text nor caption (warning).",
        "cell-assert": "An assertion with a comma is always true; an error in claims, otherwise a warning.",
        "cell-browser": "Code for readers' browsers imports a missing module or cannot run there (warning).",
        "cell-died": "A cell ended its whole process.",
        "cell-error": "A cell raises an exception.",
        "cell-exit": "A cell exits its process before its code ends.",
        "cell-diff": "A cell marks lines as removed, but runs all lines that it shows.",
        "cell-fallback": "`fallback` does not name another cell of the page that runs.",
        "cell-figure": "A cell has a caption or alt text but draws no image (warning).",
        "cell-language": "A cell has a language that cannot run (warning), or not the language of its page.",
        "cell-magic": "A cell contains an IPython command, which is not Python.",
        "cell-memory": "A cell uses more memory than its limit.",
        "cell-need": "A cell needs what this machine lacks, and has no recorded result.",
        "cell-option": "A cell option is unknown or invalid; an option without effect is a warning.",
        "cell-pending": "A cell has never run, and running it is not allowed now (warning).",
        "cell-picture": "A recorded image is missing or cannot be shown.",
        "drawing-alt": "A fence that LaTeX draws has no alternative text.",
        "drawing-tex": "LaTeX cannot draw a fence in TikZ or a related language.",
        "cell-preload": "A module to preload for all sessions cannot be imported (warning).",
        "cell-repeatable": "Another run of a cell may give another result (warning).",
        "cell-shape": "The shape in a comment differs from the shape of the value.",
        "cell-stale": "A recorded result is older than the code, and must not be updated now (warning).",
        "cell-start": "The process that runs cells cannot start.",
        "cell-sweep": "A sweep of a cell has invalid syntax, or too many values.",
        "cell-syntax": "The code of a cell is not valid Python.",
        "cell-table": "A cell has the caption or label of a table but shows no table (warning).",
        "cell-timeout": "A cell runs longer than its time limit.",
        "cell-versions": "A result was recorded with other package versions (warning).",
        "claim-false": "A claim is false, or checks nothing.",
        "claim-weak": "A claim is true, but proves less than it seems (warning).",
        "freeze-archive": "An archive of recorded results cannot be written, or is invalid.",
        "freeze-damaged": "A recorded result was edited, is damaged, or cannot be read.",
        "freeze-revision": "A commit to compare results with does not exist, or git cannot be used.",
        "freeze-signature": "A signature of recorded results is not valid, or cannot be verified (warning).",
        "freeze-stale": "A result is missing or stale, and `--frozen` forbids running the code.",
        "freeze-write": "Recorded results cannot be written: disk full, no permission, name too long.",
        "need-unmet": "`--needs` names what this machine lacks, or what no cell needs.",
        "output-html": "The HTML of a value contains a part that is not shown, e.g. a script (warning).",
        "output-latex": "The LaTeX of a value cannot be typeset and is shown as text (warning).",
        "output-object": "A value is shown as `<… object at 0x…>`, which says nothing to readers (warning).",
        "output-plugin": "A plugin cannot show a value of a cell, which is shown in another form.",
        "post-unknown": "A command names a post that does not exist in the site.",
        "pyodide-folder": "The folder with Python for browsers lacks a file or a package.",
        "pyodide-vendor": "Python or a library for browsers cannot be copied: no network, a wrong checksum.",
        "value-error": "An inline value cannot be computed.",
        "value-open": "A `{= ` has no closing `=}` and is text (warning).",
        "value-place": "A `{= … =}` is in a position where values are not allowed.",
        "value-syntax": "A `{= … =}` contains an invalid expression or format.",
        "verify-break": "A claim is true with other constants too, or cannot be counter-checked (warning).",
        "verify-differs": "A new run of a cell gives another result than the recorded one.",
        "verify-unstable": "Every run of a cell gives another result.",
        # images and embeds
        "captions": "The captions of a video are not a WebVTT file.",
        "embed-host": "A video is on a host that the site does not allow.",
        "gallery": "A gallery has an invalid number of columns, or contains no image (a warning).",
        "image-fetch": "The copy of an image from another host is missing, has changed or cannot be made.",
        "image-large": "An image is too large for readers on a phone (warning).",
        "image-location": "A photo publishes the location where it was taken (warning).",
        "image-metadata": "Private metadata of an image or video cannot be removed (warning).",
        "image-missing": "An image names a file that does not exist.",
        "image-record": "A line of `remote-images.txt` cannot be read.",
        "image-remote": "An image is on another host, which the site does not allow; it may show a copy.",
        "image-sizes": "The two images of a slider differ in size (warning).",
        "image-unreadable": "A file used as an image is not one, or is damaged or too large.",
        "svg-active": "An SVG file contains scripts, or loads something from elsewhere (warning).",
        "image-width": "The width or height of an image is not a length; in HTML a warning.",
        # links and references
        "bibliography-entry": "A bibliography entry cannot be read completely; a warning if usable.",
        "bibliography-file": "A bibliography does not exist or cannot be read.",
        "citation-key": "A citation uses a key that no reference of the post has.",
        "citation-style": "A citation style does not exist or cannot be used.",
        "citation-unused": "A reference is never cited (warning).",
        "label-twice": "Two elements have the same label, or one element has two labels.",
        "label-unnumbered": "A label is on a formula that shows no number (warning).",
        "link-anchor": "A link points to an anchor that its page does not have.",
        "link-length": "The URLs of all links and images of a page are too long together.",
        "link-missing": "A link points to a page or file that does not exist.",
        "link-nested": "The text of a link contains a link, reference or footnote (warning).",
        "link-scheme": "A link has a scheme other than http, https, mailto and tel.",
        "link-space": "The path of a link or image contains a space, so all of it is text (warning).",
        "link-unpublished": "A link points to a draft or to a post dated in the future.",
        "ref-kind": "A reference begins with an unknown kind of label.",
        "ref-page": "A reference names a post that does not exist or is not published.",
        "proof-circle": "Proofs use each other's statements in a circle.",
        "ref-undefined": "A reference names a label that does not exist.",
        "ref-unnumbered": "A reference points to a formula that shows no number (warning).",
        "citable-author": "A page with “Cite this post” has no author (warning).",
        "ref-withheld": "A reference points to a solution that the page leaves out (warning).",
        "solution-exercise": "A solution has no exercise (error if `for=` names one, otherwise warning).",
        "series-part": "Two posts are the same part of a series, or a part names no series (warning).",
        "translation": "Two pages are the same page in the same language, or file name and `lang` differ.",
        "term": "A tag or category has no letter or digit, so it gets no page (warning).",
        "search-engine": "Pagefind, the search engine that the site uses, is not installed or fails.",
        # lint warnings, reported by `blogsmith check` only
        "film-captions": "A video with sound has no captions (warning).",
        "heading-empty": "A heading has no text (warning).",
        "heading-level": "A heading is more than one level below the previous one (warning).",
        "image-alt": "An image has neither alt text nor caption (warning).",
        "label-unused": "No reference uses the label of an equation, a figure or a table (warning).",
        "link-text": "The text of a link is missing, or does not describe the target: `here` (warning).",
        "macro-bypassed": "A formula writes out what a macro is declared for (warning).",
        "preamble-skipped": "A file of LaTeX contains commands that have no effect here (warning).",
        "macro-unused": "A macro is declared and never used (warning).",
        "notation-mixed": "A formula does not use the notation that `math.symbols` declares (warning).",
        "series-missing": "A title contains `Part 2 of 4`, but the post is in no series (warning).",
        "table-header": "A table has no header cell for a column or a row (warning).",
        "term-spelling": "Two posts spell a tag, a category or a series differently (warning).",
        # reported by `blogsmith check --budget`, `--links` and `--second-opinion`
        "budget": "A page exceeds a limit that is set under `budget` (warning).",
        "link-dead": "The page that a link points to is gone: 404 or 410 (warning).",
        "link-fragment": "The page on another host that a link points to does not have its id (warning).",
        "link-moved": "The page that a link points to has moved permanently (warning).",
        "link-unreachable": "The host of a link does not answer, or answers with an error (warning).",
        "math-second-opinion": "latex2mathml reads a formula differently (warning).",
        # templates and plugins
        "plugin": "A plugin fails; the message names the line of its file.",
        "plugin-import": "A plugin of the site imports code that `blogsmith trust` does not cover.",
        "plugin-missing": "A plugin does not exist, neither in the site nor bundled.",
        "plugin-untrusted": "A plugin of the site may not run before `blogsmith trust`.",
        "trust-write": "Trust in the code of a site cannot be recorded.",
        "theme-missing": "A theme does not exist, neither in the site nor bundled.",
        "theme-value": "A `theme.yaml` or the name of a theme is invalid.",
        "card-font": "A font of social cards is missing, or its site is not trusted (warning).",
        "card-letters": "No font has a letter of a title, so there is no social card (warning).",
        "theme-file": "The theme has no file of this name to copy, or the site cannot contain one.",
        "style-contrast": "A text colour has less contrast to its background than 4.5 to 1 (warning).",
        "style-file": "A stylesheet refers to a file that does not exist (warning).",
        "style-property": "A stylesheet uses a custom property that is not defined anywhere (warning).",
        "style-remote": "A stylesheet loads a stylesheet, font or image from another host.",
        "style-syntax": "A stylesheet has a syntax error; browsers ignore a part of it (warning).",
        "layout-unknown": "A page names an unknown layout, and gets the layout of its kind (warning).",
        "build-executor": "The cluster in `build.executor` cannot render pages.",
        "page-process": "A process that renders pages was killed, for example for lack of memory.",
        "page-slow": "The live preview stopped rendering a page; its previous version is shown.",
        "template": "A template of the site, the theme or a plugin has an error.",
        "template-block": "A template fills a block that the extended template does not have (warning).",
        "template-unused": "No page or template uses a template of the site, or it is not read (warning).",
        "template-limit": "A template never ends, or exceeds the limits for one page.",
        # output
        "busy": "Another blogsmith process is writing to the same site.",
        "output-conflict": "Two files of the site would have the same path on some file system.",
        "output-folder": "The output folder is not one that blogsmith may replace.",
        "output-foreign": "A file that blogsmith did not write is at the path of an output file.",
        "output-write": "The output cannot be written: disk full, no permission, name too long.",
        "book-empty": "There is no page, or no series, to make a book of.",
        "pdf-accessibility": "A PDF does not meet PDF/UA-1, or lacks a font for some text (warning).",
        "pdf-compile": "Typst cannot make a PDF, for example because `--template` names a wrong file.",
        "pdf-compiler": "The package `typst`, which makes PDF files, is not installed.",
        "pdf-rejected": "Typst rejects a formula or image; the PDF shows TeX or alternative text (warning).",
        "pdf-static": "A PDF shows a static form of a part that needs a screen, such as a video (warning).",
        "tex-rejected": "LaTeX lacks a symbol, or may not contain a formula or an image (warning).",
        "tex-template": "The template for LaTeX, or the post, cannot be used.",
        "file-exists": "A new site, post, theme or copy would replace an existing file or folder.",
        "new-name": "A title or a section of a new post cannot be turned into a file name.",
        "new-write": "A new site or post cannot be written to disk.",
        # publishing
        "publish-base-url": "A host cannot serve the site at its `base_url` (warning), or it is missing.",
        "publish-file": "A file for a host cannot be read or written.",
        "publish-git": "git cannot commit or push the pages, or the branch has other content.",
        "publish-install": "The files for installing blogsmith on a host cannot be resolved or installed.",
        "publish-lock": "The lock file of a published site does not match the site or its wheel.",
        "publish-name": "A name contains a character that the settings of a host cannot contain.",
        "publish-pages": "A host would publish other files than those that are built here.",
        "publish-repository": "The settings of a host belong to a folder other than that of the site.",
        "publish-results": "git ignores recorded results, so other machines cannot show them (warning).",
        "publish-target": "A host needs a setting or an option that is missing.",
        "publish-trust": "Publishing runs programs of a site that is not trusted.",
    }
)

CELL_CODES = frozenset(
    code for code in CODES if code.partition("-")[0] in ("cell", "claim", "include", "value")
)
"""Codes of errors in cells, in their claims and files, and in values. If a page has one of these errors, none
of its cells runs."""

LOWERABLE = frozenset(
    {
        *("citation-key", "footnote-undefined", "front-matter-value", "id-twice", "image-missing"),
        *("image-fetch", "image-remote", "image-unreadable", "image-width", "label-twice", "link-anchor"),
        *("link-missing", "drawing-alt"),
        *("link-unpublished", "proof-circle", "ref-page", "ref-undefined", "shortcode-unknown"),
    }
)
"""Codes whose errors the settings may lower to warnings. Despite these errors, the page shows all text of the
author, and publishes or loads nothing that is forbidden. Codes of lost text, security, code and formulas are
never in this set."""

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
            "code-mark",
            "config-key",
            "config-value",
        ),
        *("date", "div-open", "div-unknown", "dollar-doubtful", "emphasis-doubtful", "encoding"),
        *("fence-info", "fence-open"),
        *("footnote-undefined", "footnote-unused", "foreign-syntax", "front-matter-key", "front-matter-rule"),
        *("front-matter-open", "front-matter-unknown", "front-matter-value", "heading-doubtful"),
        *(
            "heading-h1",
            "hidden-character",
            "id-twice",
            "image-missing",
            "image-record",
            "image-width",
            "include-region",
        ),
        *("cell-magic", "json-syntax", "plugin-missing", "theme-missing", "toml-syntax"),
        *("label-twice", "label-unnumbered", "label-unused", "language-key", "language-value"),
        *("layout-unknown", "link-anchor", "link-missing", "link-nested", "link-scheme", "link-space"),
        *("macro-bypassed", "macro-unused"),
        *("math-command", "math-dollar", "math-escape", "math-in-sentence", "math-syntax", "math-unclosed"),
        *(
            "notation-mixed",
            "ref-kind",
            "ref-page",
            "ref-undefined",
            "shortcode-argument",
            "solution-exercise",
        ),
        *(
            "shortcode-open",
            "shortcode-unknown",
            "slug",
            "style-file",
            "style-property",
            "style-syntax",
            "template-block",
            "term-spelling",
            "theme-value",
            "url-moved",
            "value-open",
        ),
        *("yaml-comment", "yaml-duplicate-key", "yaml-escape", "yaml-syntax"),
    }
)
"""Codes with findings that can be fixed automatically, because the file shows what the author meant or a
similar name exists."""

SITE_CODES = frozenset({"layout-unknown", "output-conflict", "symlink", "twin-files"})
"""Codes of errors about the whole site, although the file that they name is one of its pages."""

PUBLICATION_CODES = frozenset(
    {
        *("date", "front-matter-open", "json-syntax", "merge-conflict", "permalink", "slug", "toml-syntax"),
        *("yaml-duplicate-key", "yaml-escape", "yaml-feature", "yaml-syntax"),
    }
)
"""Codes of errors in front matter after which blogsmith cannot know whether and where to publish the page."""

PROTECTED_CODE = "page-protected"
"""Code of errors that exclude a page from every build, whatever the options."""
RECORD_CODES = frozenset({"cell-pending", "cell-repeatable", "cell-stale", "cell-versions", "claim-weak"})
"""Codes of warnings about recorded results, which depend on the machine and not on the document."""

UNREAD_CODES = frozenset({"encoding", "file-too-large", "unreadable"})
"""Codes of errors that keep blogsmith from reading a file at all."""


def has_warnings(code: str) -> bool:
    """Return whether a code has warnings, which may be silenced."""
    return "warn" in CODES[code]


def documentation_url(manual: str, code: str) -> str:
    """Return the URL of a code's entry in the manual. manual: URL of the manual, or an empty string, for
    which the result is empty."""
    return f"{manual.rstrip('/')}/errors/#{code}" if manual else ""
