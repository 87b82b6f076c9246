"""Obsidian, whose sites are vaults of notes. They may be published by Quartz."""
