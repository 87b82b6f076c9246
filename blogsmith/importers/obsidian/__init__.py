"""Obsidian: a vault of notes that name each other by wikilinks, with embeds, callouts and properties."""
