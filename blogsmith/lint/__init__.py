"""Lints of `blogsmith check`. They warn about valid content that the author may want to change."""
