"""Starts a program of this folder: `python start.py main 5` or `python start.py fork_server 5 numpy torch`.

5 is the descriptor of the program's end of a socket pair; further arguments follow. The folder of this file
must not stay on `sys.path`: an author's `import values` must not find our module.
"""

import os
import sys


def boot() -> None:
    """Make this folder the package `_blogsmith` and run the program named on the command line. For a session,
    this call does not return."""
    folder = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - pathlib costs 5 ms
    ours = (folder, os.path.dirname(os.path.realpath(__file__)))  # noqa: PTH120
    sys.path[:] = [entry for entry in sys.path if entry not in ours]
    program, descriptor, names = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    sys.argv[:] = [""]
    package = type(sys)("_blogsmith")
    package.__path__ = [folder]
    sys.modules["_blogsmith"] = package
    blogsmith = os.path.dirname(os.path.dirname(folder))  # noqa: PTH120
    # Cache bytecode of our own files, whatever the environment says about the author's files.
    compiled, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    __import__("_blogsmith.lab_finder", fromlist=["install"]).install(blogsmith)
    module = __import__(f"_blogsmith.{program}", fromlist=["serve"])
    sys.dont_write_bytecode = compiled
    module.serve(descriptor, *names)


boot()
