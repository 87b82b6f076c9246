"""The site as browsers see it: addresses, pages, files."""
