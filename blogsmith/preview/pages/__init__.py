"""The site as browsers see it: URLs, pages, files."""
