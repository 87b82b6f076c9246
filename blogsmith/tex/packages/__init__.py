"""LaTeX packages that define a language of their own."""
