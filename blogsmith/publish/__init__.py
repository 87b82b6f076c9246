"""Publishing. Writes the files that hosts need, in the author's repository and in the site."""
