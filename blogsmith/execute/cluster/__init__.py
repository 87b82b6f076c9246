"""Sessions on other machines: a Dask cluster, and what a session takes from where it runs."""
