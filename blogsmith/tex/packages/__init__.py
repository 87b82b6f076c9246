"""LaTeX packages with a syntax of their own."""
