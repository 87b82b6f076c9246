"""MyST: Jupyter Book 1 (`_toc.yml`), Jupyter Book 2 and mystmd (`myst.yml`), Sphinx with myst-parser, and the
dialect of d2lbook (`config.ini`).

Two steps a page: `blocks` translates what stands between lines, fences of directives above all, and notes the
labels it meets; as soon as all pages are through, `inline` translates what stands in lines, since a reference
needs to know what it leads to, and where.
"""
