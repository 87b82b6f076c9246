"""Importers: sites of other systems, converted to blogsmith sites.

`blogsmith import` runs four steps. `systems.find_system` finds the system that wrote the source.
`System.read` returns the whole source as records in our terms (`model.SiteImport`).
`write.write_site_files` writes them to a new folder. `verify/` builds this folder and counts whether
something was lost.

To add a system:

1. Add a folder `importers/<name>/`. Its `__init__.py` describes what it reads, and its module `system.py`
   defines an object `SYSTEM` with the members of `systems.System`. Add its entry point to pyproject.toml, and
   its name to `systems._ORDER`, before systems for which its files could be mistaken.
2. `read(root)` returns a `SiteImport`: pages with front matter in our keys and Markdown in our syntax, files
   to copy, settings of `blogsmith.yaml`, and a `Notice` for everything that has another meaning here, or
   none. It writes nothing and uses no network. Text is rewritten through `text/`: `mask` hides code, formulas
   and tags from rewrites of prose.
3. `render(text, page)` returns the HTML of a page's source as the old system would show it, without code that
   `read` uses too: everything counted in it must also be on our page. If `read` removes something on purpose,
   the `removed` of a notice names it, and no difference is reported.
4. Add sites of our own writing under `tests/importers/<name>/`, each with its expected result.
"""
