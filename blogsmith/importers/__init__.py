"""Importers: sites of other systems, converted to blogsmith sites.

`blogsmith import` runs six steps. `systems.find_system` finds the system that wrote the source. `System.read`
returns the whole source as records in our terms (`model.SiteImport`); `read_text` gives it pages in which the
blocks of `import-map.yaml` are replaced. `write.write_site_files` writes them to a temporary folder.
`repair.build_import` builds this folder, and repairs the records until no error is left. `verify/` compares
the pages with the source. `merge` writes the new site, and keeps the changes that its author made there.

To add a system:
1. Add a folder `importers/<name>/`. Its `__init__.py` describes what it reads, and its module `system.py`
   defines an object `SYSTEM` with the members of `systems.System`. Add its entry point to pyproject.toml, and
   its name to `systems._ORDER`, before other systems that would also accept its files.
2. `read(root)` returns a `SiteImport`: pages with front matter in our keys and Markdown in our syntax, files
   to copy, settings of `blogsmith.yaml`, and a `Notice` for everything that has another meaning here, or
   none. It writes nothing and uses no network. Text is rewritten through `text/`: `mask` hides code,
   formulas and tags from rewrites of prose.
3. `render(text, page)` returns the HTML that the old system would show for a page's source. It must not use
   code of `read`, because the check expects everything in this HTML on our page too. If `read` removes
   something on purpose, the `removed` of a notice contains it, and no loss is reported.
4. Add sites of our own writing under `tests/importers/<name>/`, each with its expected result.
"""
