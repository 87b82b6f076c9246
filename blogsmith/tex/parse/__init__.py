"""TeX as it is read: tokens, macros, groups, arguments."""
