"""Social cards: the picture that stands beside a link to a post in messengers and networks."""
