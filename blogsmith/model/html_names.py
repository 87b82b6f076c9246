"""Names of the elements of HTML, SVG and MathML, in lower case.

Sources: HTML Living Standard, indices and 16.2 (obsolete elements); SVG 2 and SVG 1.1; presentation elements
of MathML 3. Content MathML is left out: browsers do not show it, and its names such as `int` and `vector`
also occur in code.
"""

from __future__ import annotations

from .names import VOID_ELEMENTS, name_set

_HTML = name_set(
    "a abbr acronym address applet article aside audio b basefont bdi bdo bgsound big blink blockquote "
    "body button canvas caption center cite code colgroup data datalist dd del details dfn dialog dir div "
    "dl dt em fencedframe fieldset figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 "
    "head header hgroup html i iframe image ins isindex kbd keygen label legend li listing main map mark "
    "marquee math menu menuitem meter nav nobr noembed noframes noscript object ol optgroup option output "
    "p picture plaintext pre progress q rb rp rt rtc ruby s samp script search section select "
    "selectedcontent slot small span strike strong style sub summary sup svg table tbody td template "
    "textarea tfoot th thead time title tr tt u ul var video xmp"
)
_SVG = name_set(
    "altglyph altglyphdef altglyphitem animate animatecolor animatemotion animatetransform circle "
    "clippath cursor defs desc discard ellipse feblend fecolormatrix fecomponenttransfer fecomposite "
    "feconvolvematrix fediffuselighting fedisplacementmap fedistantlight fedropshadow feflood fefunca "
    "fefuncb fefuncg fefuncr fegaussianblur feimage femerge femergenode femorphology feoffset "
    "fepointlight fespecularlighting fespotlight fetile feturbulence filter foreignobject g glyph "
    "glyphref hatch hatchpath hkern line lineargradient marker mask mesh meshgradient meshpatch meshrow "
    "metadata mpath path pattern polygon polyline radialgradient rect set solidcolor stop svg switch "
    "symbol text textpath tref tspan unknown use view vkern"
)
_MATHML = name_set(
    "annotation maction maligngroup malignmark math menclose merror mfenced mfrac mglyph mi mlabeledtr "
    "mlongdiv mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow ms mscarries mscarry "
    "msgroup msline mspace msqrt msrow mstack mstyle msub msubsup msup mtable mtd mtext mtr munder "
    "munderover none semantics"
)

HTML_ELEMENTS = _HTML | VOID_ELEMENTS
"""Elements of HTML, with obsolete ones that browsers still know, and the roots `svg` and `math`."""


def is_element(name: str, source: str) -> bool:
    """Return whether browsers know the element `name` in a page with the text `source`. name: in lower case.
    A name with a hyphen is a custom element, which needs a script that defines it."""
    if name in HTML_ELEMENTS:
        return True
    return (name in _SVG and "<svg" in source) or (name in _MATHML and "<math" in source)
