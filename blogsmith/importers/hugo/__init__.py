"""Hugo, whose pages are written in goldmark's Markdown with shortcodes, with front matter in TOML, YAML or
JSON."""
