"""Jekyll, whose posts are written in kramdown with Liquid. Supports themes such as al-folio, Chirpy, Distill
and minima."""
