"""Pyodide, Python for browsers: which release, what it holds, and where a site has it from.

Nothing here loads or runs it; readers' browsers do, on a click.
"""
