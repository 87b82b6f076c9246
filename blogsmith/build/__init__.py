"""Building a site: load, resolve, trace, render, relate, plan, write. Valid results of earlier builds are
reused."""
