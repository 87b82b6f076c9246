"""HTTP server of the preview: serves pages from memory and events to every tab, and controls access to them.

It is not based on `http.server` for three reasons. That module folds `//host` into `/host` before it can be
rejected. It limits the time of each read instead of the whole header, so one byte a second blocks a thread
forever. And it takes 60 ms to import.
"""
