"""Access to disk without following links: everything that is written, replaced or removed."""
