"""The Markdown version of each page, with the content that readers see, and the list `llms.txt`."""
