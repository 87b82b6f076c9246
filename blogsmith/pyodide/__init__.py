"""Pyodide, Python for browsers. Defines the supported release and its packages, and the location from which a
site loads them.

Nothing here loads or runs it; readers' browsers do, on a click.
"""
