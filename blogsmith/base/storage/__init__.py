"""Access to disk that follows no links, for every file that blogsmith writes, replaces or removes."""
