"""SVG: sanitizing and recolouring of drawings, and metadata of SVG files."""
