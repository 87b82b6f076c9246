"""Boots the worker: `python start.py 5`, where 5 is the worker's end of a socket pair.

The folder of this file must not stay on `sys.path`: an author's `import values` is not meant to find ours.
"""

import os
import sys


def boot() -> None:
    """Make this folder the package `_blogsmith` and serve one session; does not return."""
    folder = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - pathlib costs 5 ms
    ours = (folder, os.path.dirname(os.path.realpath(__file__)))  # noqa: PTH120
    sys.path[:] = [entry for entry in sys.path if entry not in ours]
    descriptor = int(sys.argv[1])
    sys.argv[:] = [""]
    package = type(sys)("_blogsmith")
    package.__path__ = [folder]
    sys.modules["_blogsmith"] = package
    # Our own files are compiled once, whatever the environment says about the author's.
    compiled, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    from _blogsmith.main import serve  # type: ignore[import-not-found]

    sys.dont_write_bytecode = compiled
    serve(descriptor)


boot()
