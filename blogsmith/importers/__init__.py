"""Import of sites of other systems, which are read and written as a blogsmith site.

`blogsmith import` has four steps. `systems.find_system` detects the system of the source. `System.read`
returns all of it as records (`model.SiteImport`). `write.write_site_files` writes these to a new folder.
`verify/` builds the new site and counts losses.

To add a system:

1. Add a folder `importers/<name>/`, whose `__init__.py` describes what it reads. Add a module `system.py`
   with an object `SYSTEM` that has the four members of `systems.System`. Add its name to `systems.NAMES`,
   before systems that would recognize its files too.
2. `read(root)` returns a `SiteImport`: pages with blogsmith's front matter and Markdown, files to copy,
   settings for `blogsmith.yaml`, and a `Notice` for everything that has another meaning in blogsmith, or
   none. It writes nothing and uses no network. Text is rewritten with the helpers in `text/`: `mask` hides
   code, formulas and tags from rewrites of prose.
3. `render(text, page)` returns the HTML of a page's source as the old system would show it. It shares no
   code with `read`. All content that is counted in this HTML must be in the new page too. `read` declares
   intended removals in the `removed` field of a notice; these are not reported as losses.
4. Add example sites under `tests/importers/<name>/`, each with the expected result.
"""
