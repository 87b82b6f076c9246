"""Hugo: content in goldmark's Markdown with shortcodes, front matter as TOML, YAML or JSON, page bundles."""
