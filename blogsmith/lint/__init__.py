"""Lints of `blogsmith check`: warnings about valid content that the author may want to change."""
