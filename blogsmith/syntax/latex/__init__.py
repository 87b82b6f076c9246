"""LaTeX in the text of posts: reader of a tree, writer of Markdown with positions, warnings with fixes."""
