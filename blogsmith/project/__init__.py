"""An opened site: its settings, plugins and theme, whether they may run, what it consists of, and reports."""
