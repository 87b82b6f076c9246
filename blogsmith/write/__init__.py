"""Writing of outputs to a folder: the new site replaces the old one in one step, and files of others stay."""
