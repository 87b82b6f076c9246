"""The HTTP server of the preview: pages from memory, events to every tab, and who may ask for them.

Not on `http.server`: that folds `//host` into `/host` before it can be refused, times each read instead of
the whole head, so that one byte a second holds a thread for ever, and takes 60 ms to import.
"""
