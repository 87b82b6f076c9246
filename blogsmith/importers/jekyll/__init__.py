"""Jekyll: posts in kramdown with Liquid, as in the themes al-folio, Chirpy, Distill and minima."""
