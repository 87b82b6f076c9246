"""Hugo's shortcodes: parser for calls, translation of calls, and expansion of the site's own templates."""
