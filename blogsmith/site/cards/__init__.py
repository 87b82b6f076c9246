"""Social cards: the preview images of links to posts in messengers and social networks."""
