"""Pyodide, Python for browsers. Defines the supported release and its packages, and the location where a site
loads them from.

Nothing here loads or runs it; readers' browsers do, on a click.
"""
