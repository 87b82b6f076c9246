"""Papers: pages of the site → a document tree → Typst and one PDF, or LaTeX."""
