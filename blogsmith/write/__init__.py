"""Writing of outputs to a folder: staged, swapped in one step, and limited to our own files."""
