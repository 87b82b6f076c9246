"""Running the code of posts: worker processes, what they give, and how it is recorded."""
