"""Sessions on other machines: a Dask cluster, and the environment of a session there."""
