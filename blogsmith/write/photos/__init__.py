"""Images as published: without private metadata, and as smaller copies."""
