"""The site as browsers see it, with its URLs, pages and files."""
