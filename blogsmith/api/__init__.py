"""Public modules of the core: one for each part of blogsmith that could be a package of its own."""
