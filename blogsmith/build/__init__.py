"""Making a site: load, resolve, trace, render, relate, plan, write; whatever is still true is reused."""
