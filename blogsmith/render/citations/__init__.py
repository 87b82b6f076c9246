"""Citations and lists of references, in the style that a page asks for."""
