"""Hugo's shortcodes: parsing of calls, their translation, and templates of the site."""
