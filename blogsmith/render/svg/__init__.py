"""SVG: drawings made safe and recoloured, and what an SVG file says of itself."""
