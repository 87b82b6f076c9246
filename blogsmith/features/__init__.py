"""Commands that use a built site: links to other hosts, page sizes, citations, runnable pages."""
