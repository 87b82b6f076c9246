"""Site as browsers see it: URLs, pages, files."""
