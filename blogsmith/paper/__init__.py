"""Papers made from pages of the site. The pages become a document tree, which is written as Typst and
compiled to one PDF, or written as LaTeX."""
