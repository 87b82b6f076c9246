"""Hugo: content in goldmark's Markdown with shortcodes; front matter in TOML, YAML or JSON; page bundles."""
