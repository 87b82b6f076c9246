"""Pyodide, Python for browsers: the supported release, its packages, and where a site loads it from.

Nothing here loads or runs it; readers' browsers do, on a click.
"""
