"""What the cache of a site holds, one module for each kind of row."""
