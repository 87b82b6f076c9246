"""Other hosts: which may be asked for anything and how, copies of images there, links that lead there."""
