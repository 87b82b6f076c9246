"""The text twin of a page: what its readers see, as Markdown, and the list of all twins, `llms.txt`"""
