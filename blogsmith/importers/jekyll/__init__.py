"""Jekyll: posts in kramdown, with Liquid, in the forms that al-folio, Chirpy, Distill and minima give it."""
