"""Names of commands and environments that convert, for `did you mean`.

A plain table: a name missing here still works, it is only never suggested.
"""

from __future__ import annotations

_NAMES = """
AA AE Alpha Bbb Bbbk Beta Big Bigg Biggl Biggm Biggr Bigl Bigm Bigr Box Bra Braket Bumpeq Cap Chi
Colonapprox Coloneq Coloneqq Colonsim Cup Darr Dashcolon Delta Diamond Doteq Downarrow Epsilon Eqcolon
Eqqcolon Eta Finv Game Gamma Harr Huge Im Iota Join Kappa Ket LARGE Lambda Large Larr Leftarrow
Leftrightarrow Lleftarrow Longleftarrow Longleftrightarrow Longrightarrow Lsh Mu Nu OE Omega Omicron
Overrightarrow Phi Pi Pr Psi Rarr Re Reals Rho Rightarrow Rrightarrow Rsh Set Sigma Subset Supset Tau
Theta Uarr Uparrow Updownarrow Upsilon VDash Vdash Vert Vvdash Xi Zeta aa acute ae aleph alpha amalg
angl angle angln approx approxcolon approxeq arccos arcctg arceq arcsin arctan arctg arg argmax argmin
ast asymp atop backepsilon backprime backsim backsimeq backslash bar barwedge bcancel because begin beta
beth between bf big bigcap bigcirc bigcup bigcupdot bigdoublewedge bigg biggl biggm biggr bigl bigm
bigodot bigoplus bigotimes bigr bigsqcap bigsqcup bigstar bigtimes bigtriangledown bigtriangleup
biguplus bigvee bigwedge binom blacklozenge blacksquare blacktriangle blacktriangledown
blacktriangleleft blacktriangleright bm bmod bold boldsymbol bot bowtie boxdot boxed boxminus boxplus
boxtimes bra brace brack braket breve bull bullet bumpeq cal cancel cap cdot cdotp cdots cfrac check
checkmark chi choose circ circeq circlearrowleft circlearrowright circledR circledS circledast
circledcirc circleddash clubs clubsuit cnums colon coloncolon coloncolonapprox coloncolonminus colondash
coloneq coloneqq colonequals colonminus colonsim color complement cong coprod copyright cos cosec cosh
cot cotg coth csc ctg cth cup curlyeqprec curlyeqsucc curlyvee curlywedge curvearrowleft curvearrowright
dArr dag dagger daleth dashcolon dashleftarrow dashrightarrow dashv dbinom dblcolon ddagger ddddot dddot
ddot ddots deg degree delta det dfrac diagdown diagup diamond diamonds diamondsuit digamma dim
displaystyle div divideontimes dot doteq doteqdot dotplus dots dotsminusdots doublebarwedge doublecap
downarrow downdownarrows downharpoonleft downharpoonright ell emph emptyset end enspace epsilon eqcirc
eqcolon eqdef eqqcolon eqref eqsim eqslantgtr eqslantless equalscolon equiv erf eta eth exists exp
fallingdotseq fbox fint flat footnotesize forall frac frak frown gamma gcd ge genfrac geq geqq geqslant
gets gg ggg gggtr gimel gnapprox gneq gneqq gnsim grave gt gtrapprox gtrdot gtreqless gtreqqless gtrless
gtrsim gvertneqq hat hbar hdashline hearts heartsuit hline hom hookleftarrow hookrightarrow hphantom
hskip hslash hspace huge iddots idotsint iff iiiint iiint iint imageof imath impliedby implies in inf
infty injlim int intBar intbar intclockwise intercal iota it jmath kappa ker kern kernelcontraction ket
lAngle lBrace lVert label lambda land lang langle large lbrace lbrack lceil ldotp ldots le leadsto left
leftarrow leftarrowtail leftharpoondown leftharpoonup leftleftarrows leftrightarrow leftrightarrows
leftrightharpoons leftrightsquigarrow leftthreetimes leq leqq leqslant lessapprox lessdot lesseqgtr
lesseqqgtr lessgtr lesssim let lfloor lg lgroup lhd lightning lim liminf limits limsup ll llangle
llbracket llcorner lll llless llparenthesis lmoustache ln lnapprox lneq lneqq lnot lnsim log
longleftarrow longleftrightarrow longmapsto longrightarrow looparrowleft looparrowright lor lozenge
lparen lq lrarr lrcorner lt ltimes lvert lvertneqq maltese mapsto mathbb mathbf mathbin mathcal
mathchoice mathclose mathfrak mathinner mathit mathop mathopen mathord mathpunct mathrel mathring mathrm
mathscr mathsf mathsterling mathstrut mathtt max mbox measeq measuredangle medspace mho mid middle min
minuscolon minuscoloncolon minuso mkern mod models mp mskip mspace mu multimap nLeftarrow
nLeftrightarrow nRightarrow nVDash nVdash nabla natnums natural ncong ne nearrow neg negmedspace
negthickspace negthinspace neq nequiv newcommand nexists ngeq ngeqq ngeqslant ngtr ngtrless ngtrsim ni
nleftarrow nleftrightarrow nleq nleqq nleqslant nless nlesssim nmid nolimits nonumber normalsize not
notag notin notni nparallel nprec npreceq nrightarrow nsim nsubset nsubseteq nsubseteqq nsucc nsucceq
nsupset nsupseteq nsupseteqq ntriangleleft ntrianglelefteq ntriangleright ntrianglerighteq nu nvDash
nvdash nwarrow odot oe oiiint oiint oint ointctrclockwise omega omicron ominus operatorname
operatornamewithlimits oplus origof oslash otimes over overbrace overbracket overgroup overleftarrow
overleftharpoon overleftrightarrow overline overparen overrightarrow overrightharpoon overset owns
parallel partial perp phantom phase phi pi pitchfork plim plusmn pm pmod pod pounds prec precapprox
preccurlyeq preceq precnapprox precneqq precnsim precsim prescript prime prod projlim propto psi qquad
quad questeq rAngle rArr rBrace rVert raisebox rang rangle ratio rbrace rbrack rceil real reals
renewcommand restriction rfloor rgroup rhd rho right rightarrow rightarrowtail rightharpoondown
rightharpoonup rightleftarrows rightleftharpoons rightrightarrows rightsquigarrow rightthreetimes
risingdotseq rm rmoustache rparen rq rrangle rrbracket rrparenthesis rtimes rvert scriptscriptstyle
scriptsize scriptstyle searrow sec sect set setminus sf sharp shoveleft shoveright sideset sigma sim
simcolon simcoloncolon simeq sin sinh small smile sout space spadesuit sphericalangle sqcap sqcup sqrt
sqsubset sqsubseteq sqsupset sqsupseteq square ss stackrel star stareq sub sube subset subseteq
subseteqq subsetneq subsetneqq substack succ succapprox succcurlyeq succeq succnapprox succneqq succnsim
succsim sum sumint sup supe supset supseteq supseteqq supsetneq supsetneqq surd swarrow tag tan tanh tau
tbinom text textasciicircum textasciitilde textbackslash textbf textbraceleft textbraceright textcolor
textdollar textellipsis textemdash textendash textit textquotedblleft textquotedblright textquoteleft
textquoteright textrm textsc textsf textstyle texttt tfrac therefore theta thetasym thickspace thinspace
tilde times tiny to top triangle triangledown triangleleft trianglelefteq triangleq triangleright
trianglerighteq tt twoheadleftarrow twoheadrightarrow uArr ulcorner underbar underbrace underbracket
undergroup underleftarrow underleftrightarrow underline underparen underrightarrow underset unlhd unrhd
uparrow updownarrow upharpoonleft upharpoonright uplus upsilon upuparrows urcorner utilde vDash varDelta
varGamma varLambda varOmega varPhi varPi varPsi varSigma varTheta varUpsilon varXi varepsilon varkappa
varnothing varointclockwise varphi varpi varrho varsigma varsubsetneq varsubsetneqq varsupsetneq
varsupsetneqq vartheta vartriangle vartriangleleft vartriangleright vcentcolon vdash vdots vec vee
veebar veeeq vert vertoverlay vphantom wedge wedgeq weierp widecheck widehat widetilde wp wr xLeftarrow
xLeftrightarrow xRightarrow xcancel xhookleftarrow xhookrightarrow xi xleftarrow xleftharpoondown
xleftharpoonup xleftrightarrow xleftrightharpoons xlongequal xmapsto xrightarrow xrightharpoondown
xrightharpoonup xrightleftharpoons xtofrom xtwoheadleftarrow xtwoheadrightarrow yen zeta
"""

COMMANDS = tuple("\\" + name for name in _NAMES.split())
"""With backslash, sorted; capitals come first, so that lower case wins among equals."""

_ENVIRONMENTS = """
Bmatrix Vmatrix align align* alignat alignat* aligned alignedat array bmatrix cases dcases eqnarray
equation equation* flalign flalign* gather gather* gathered matrix multline multline* pmatrix
rcases split subequations vmatrix
"""

ENVIRONMENTS = tuple(_ENVIRONMENTS.split())
