"""Reading of TeX: tokens, macros, groups, arguments, colours and lengths."""
