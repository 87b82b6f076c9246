"""Hugo's shortcodes. Parses calls, translates them, and expands the site's own templates."""
