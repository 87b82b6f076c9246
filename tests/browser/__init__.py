"""Pages as readers meet them: checked in Chromium, by axe, by the Nu HTML checker."""
