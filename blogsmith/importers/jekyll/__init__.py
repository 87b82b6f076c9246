"""Jekyll: posts in kramdown with Liquid, for example with the themes al-folio, Chirpy, Distill and minima."""
