"""An opened site: settings, plugins and theme, permission to run code, contents, and build reports."""
