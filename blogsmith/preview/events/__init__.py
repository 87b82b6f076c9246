"""Events for browsers and the terminal: pages, cells and diagnostics."""
