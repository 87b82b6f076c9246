"""Thread that keeps the site up to date with the files on disk, and its messages."""
