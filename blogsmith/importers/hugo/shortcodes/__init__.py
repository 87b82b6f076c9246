"""Hugo's shortcodes: calls in a text, what each becomes, and templates of the site's own."""
