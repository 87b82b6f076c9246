"""An opened site, with its settings, plugins and theme, permission to run code, contents, and build
reports."""
