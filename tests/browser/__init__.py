"""Pages in browsers, checked in Chromium and Firefox, by axe and by the Nu HTML checker."""
