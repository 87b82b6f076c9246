"""An opened site: its settings, plugins and theme, what it consists of, and the report of a build."""
