"""Sites of other systems, read and written anew as a site of ours.

`blogsmith import` goes through four steps, each a function: `systems.find_system` says which system wrote the
source, `System.read` gives all of it as records in our words (`model.SiteImport`), `write.write_site_files`
writes these to a new folder, and `verify/` builds that and counts whether something was lost.

How a system is added:

1. A folder `importers/<name>/` whose `__init__.py` says what it reads, and a module `system.py` in it with an
   object `SYSTEM` that has the four members of `systems.System`; its entry point in pyproject.toml, and its
   name in `systems._ORDER`, before systems whose files it would be mistaken for.
2. `read(root)` gives a `SiteImport`: pages with front matter in our keys and Markdown in our vocabulary,
   files to copy, settings of `blogsmith.yaml`, and a `Notice` for everything that means something else here
   or nothing. It writes nothing and asks no network. Text is rewritten through `text/`: `mask` hides code,
   formulas and tags from rewrites that are about prose.
3. `render(text, page)` gives HTML of a page's source as the old system would show it, by a way that shares no
   code with `read`: what is counted in it must be in our page too. What `read` takes away on purpose it says
   in the `removed` of a notice, and no difference is told of that.
4. Sites of our own writing under `tests/importers/<name>/`, each with what it becomes.
"""
