"""Parts of a build that need all pages or files beside them: images, cards, search, fonts, cited works."""
