r"""The mhchem package: chemical formulas, reactions and units of `\ce` and `\pu`."""
