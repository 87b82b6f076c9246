"""blogsmith: a static-site generator for posts with mathematics and code."""

import os
import sys

__version__ = "0.1.0"

# `python -m blogsmith` puts the folder it is started in first on the search path, which may be a stranger's
# site: nothing but what Python has loaded already may be imported before this, not even `__future__`. Python
# says "-m" here while it looks for the module.
if sys.argv[:1] == ["-m"] and not sys.flags.safe_path:
    _folder = sys.path.pop(0)
    if __path__[0] == os.path.join(_folder, "blogsmith"):  # noqa: PTH118
        # a checkout that is not installed: found there, and by what we start too, but after everything else
        sys.path.append(_folder)
