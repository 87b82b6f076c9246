"""Build stages that need all pages or additional files: images, cards, search, fonts, references."""
