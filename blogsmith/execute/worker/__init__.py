"""Program that runs a session's cells in the author's Python: 3.9 or later, standard library only.

`start.py` starts it as the package `_blogsmith`, because blogsmith may not be installed there. The builder's
side of the protocol is in `execute/session/`.
"""
