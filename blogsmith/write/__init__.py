"""Writing of outputs to a folder on disk: staged, swapped in one step, and limited to blogsmith's own files
"""
