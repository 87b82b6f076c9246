"""HTTP server of the preview: serves pages from memory and events to every tab, and controls access to them.

It does not use `http.server` for three reasons: that module turns `//host` into `/host` before it can be
rejected; it limits the time of each read, not of the whole header, so that one byte a second blocks a thread
forever; and it takes 60 ms to import.
"""
