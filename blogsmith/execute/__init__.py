"""Running the code of posts: worker processes, and what they give."""
