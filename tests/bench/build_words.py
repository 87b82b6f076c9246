"""Vocabulary of the generated posts: words, patterns of formulas, lines of code."""

from __future__ import annotations


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


NOUNS = _words("""
filter spectrum signal kernel sample window band noise phase lattice operator residual bound grid basis moment
estimate gradient step schedule matrix factor column block norm rank threshold tolerance iterate root series
remainder interval measure density prior likelihood chain walk transition mixture sketch hash bucket queue
cache line stream packet frame register thread barrier tree leaf node edge path cut flow
""")
ADJECTIVES = _words("""
adaptive banded circular compact conjugate convex discrete finite greedy implicit incremental inverse lazy
marginal monotone narrow nested orthogonal parallel periodic positive random recursive robust shifted sorted
symmetric uniform weak weighted
""")
VERBS = _words("""
bounds compresses corrects cuts delays doubles extends fills follows halves joins keeps limits maps meets
mirrors moves orders permutes replaces resets samples shrinks smooths tracks truncates updates
""")
JOINTS = _words("after and because before so since unless until when where")
TAGS = _words("""
algebra caching compilers concurrency control-theory data-structures estimation geometry graphs hashing
interpolation numerics optimization probability quadrature queues randomness signals sorting statistics
""")
CALLOUTS = _words("NOTE TIP IMPORTANT WARNING CAUTION")

LETTERS = {
    "a": _words("a b p q r s u v w x y z"),
    "b": _words("a b p q r s u v w x y z"),
    "c": _words("a b p q r s u v w x y z"),
    "i": _words("i j k l m n"),
    "j": _words("i j k l m n"),
    "f": _words("A B C D F G H K L M P Q R S T U V W"),
    "g": _words(
        r"\alpha \beta \gamma \delta \eta \theta \kappa \lambda \xi \rho \sigma \tau \varepsilon \omega"
    ),
}
"""Letters by their placeholder in a pattern, such as `<a>`; `<n>` and `<m>` are numbers."""
INLINE = (
    r"<a>_{<i>} = <n>",
    r"<f> \in \mathbb{R}^{<n> \times <m>}",
    r"\lVert <a> - <b> \rVert_2 \le <g>",
    r"O(<n> \log <n>)",
    r"\frac{<a>_{<i>}}{<b>_{<j>} + <n>}",
    r"<g>^{<m>} \approx 10^{-<n>}",
    r"\sqrt{<a>^2 + <n>}",
    r"<f>^\top <f>_{<m>}",
    # A bar would end the table cell.
    r"\mathbb{E}[<a> \mid <b>_{<n>}]",
    r"\sum_{<i>=0}^{<n>} <a>_{<i>}",
    r"\hat{<a>}_{<n>} \to <a>",
    r"\det(<f> - <g> I) = 0",
    r"<a> \mapsto e^{-<n> <a>}",
    r"\partial_{<a>} <f>(<a>, <n>)",
)
DISPLAYS = (
    r"<f>(<g>) = \int_{-\infty}^{\infty} <a>(t)\, e^{-2 \pi i <g> t} \, \mathrm{d}t = \sum_{<i>=0}^{<n>} "
    r"\frac{\hat{<a>}_{<i>}}{<i>! \, <m>^{<i>}}",
    r"\begin{aligned} <a>_{<i>+1} &= <a>_{<i>} - <g> \nabla <f>(<a>_{<i>}) + \tfrac{<n>}{<m>} "
    r"(<a>_{<i>} - <a>_{<i>-1}) \\ <b>_{<i>+1} &= (1 - <g>) <b>_{<i>} + <g> "
    r"\left\lVert <a>_{<i>+1} - <a>_{<i>} \right\rVert^2 \end{aligned}",
    r"\begin{pmatrix} <a>_{1} & <b>_{1} & 0 \\ <b>_{1} & <a>_{2} & <b>_{2} \\ 0 & <b>_{2} & <a>_{3} "
    r"\end{pmatrix} \begin{pmatrix} <c>_1 \\ <c>_2 \\ <c>_3 \end{pmatrix} = "
    r"<g> \begin{pmatrix} <n> \\ <m> \\ 1 \end{pmatrix}",
    r"\Pr\left( \left| \frac{1}{<n>} \sum_{<i>=1}^{<n>} <a>_{<i>} - \mu \right| \ge <g> \right) \le "
    r"2 \exp\left( -\frac{2 \cdot <n> \, <g>^2}{(<b> - <c>)^2} \right)",
    r"<f>_{<n>}(<a>) = \begin{cases} <a>^{<m>} - <b> & \text{if } <a> \ge <g>, \\ "
    r"\displaystyle\frac{<a>}{<n> + <b>^2} & \text{otherwise} \end{cases}",
    r"\frac{\partial <f>}{\partial t} + <g> \left( <a> \cdot \nabla \right) <f> = \nu \nabla^2 <f> - "
    r"\underbrace{\frac{<n>}{<m>} \, <b>_{<i><j>} <f>}_{\text{damping}}",
    r"\prod_{<i>=1}^{<m>} \left( 1 - \frac{<g>_{<i>}}{<n>} \right)^{-1} = \lim_{<j> \to \infty} "
    r"\binom{<n>}{<m>} \sqrt[3]{\overline{<a>}_{<j>}^{\,2} + <b>}",
    r"\hat{<a>} = \operatorname*{arg\,min}_{<a> \in \mathbb{R}^{<n>}} \; \tfrac12 "
    r"\left\lVert <f> <a> - <b> \right\rVert_2^2 + <g> \left\lVert <a> \right\rVert_1 "
    r"\quad \text{subject to} \quad <c>^\top <a> \le <m>",
)
STATEMENTS = (
    "{a} = [{b} * {n} for {b} in range({m}) if {b} % {m} != 1]",
    "{a} = max(0.0, {b} - {n}.5) / {m}  # the {adjective} {noun}",
    'if {a} > {n}:\n        raise ValueError(f"the {noun} is {{{a}!r}}, not at most {n}")',
    "for step in range({m}):\n        {b} += {a} ** step / {n}.0",
    '{a} = {{"{noun}": {n}, "{adjective}": {b}}}',
    "{b} = sum(math.sqrt(part) for part in ({n}, {m}, {n}))",
    'assert isinstance({a}, float), "{adjective} {noun}"',
    "while {b} < {n}:\n        {b} = {b} * 2 + 0x{n:x}",
    "{a}, {b} = {b}, {a} % {m}",
)
"""Patterns of code lines: `{a}` and `{b}` are names, `{n}` and `{m}` numbers."""
