"""Bibliographies of other systems → `references:` of our front matter."""
