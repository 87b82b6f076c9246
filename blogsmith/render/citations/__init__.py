"""Citations and bibliographies in the style that a page selects."""
