"""How fast a site is built, beside other generators."""
