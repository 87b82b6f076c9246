"""The siunitx package: numbers and units."""
