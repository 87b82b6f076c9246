"""Running the code of posts: worker processes and their results."""
