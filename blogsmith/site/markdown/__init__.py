"""The Markdown version of each page, with the content that readers see, and their list, `llms.txt`"""
