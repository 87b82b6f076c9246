"""The one thread that keeps the site as it is on disk, and the messages it takes."""
