"""Symbols with names: each symbol followed by its commands, grouped by TeX's atom classes.

Names and classes: LaTeX, AMS, and the tables of KaTeX and Temml. An entry of several characters is a
compound relation. `atoms` reads the tables, and sets capital Greek letters upright and small ones slanted.
"""

ORDINARY = r"""
! oc; ∎ QED; Ϙ Coppa; ? wn; ↕ shift; ↑ shneg; ↓ shpos; ⦵ standardstate; ⊕ Earth; ⌢ scoh; ⌣ sincoh; Æ AE; Å
Angstrom; ⫫ Bot; □ Box square Square; Ð DH; Đ DJ; Δ Delta; ◊ Diamond lozenge; Ⅎ Finv; ⅁ Game; Γ Gamma; ℑ Im
image; Ϟ Koppa; Ł L; ł l; Λ Lambda; Ŋ NG; Ø O; Œ OE; Ω Omega; ¶ P mathparagraph; Φ Phi; Π Pi; Ψ Psi; ℜ Re
real; § S sect mathsection; Ϡ Sampi; Σ Sigma; Ϛ Stigma; Þ TH; Θ Theta; Υ Upsilon; ‖ Vert Arrowvert; Ξ Xi; æ
ae; ℵ alef alefsym aleph; α alpha; ∠ angle; ☉ astrosun; ‶ backdprime; ‵ backprime; \ backslash; ‷
backtrprime; ✗ ballotx; β beta; ℶ beth; ★ bigstar; ⧫ blacklozenge; ■ blacksquare; ▲ blacktriangle; ▼
blacktriangledown; ⊥ bot; ¢ cent; ✓ checkmark checked; χ chi; ® circledR; Ⓢ circledS; ♣ clubs clubsuit; ∁
complement; ϙ coppa varcoppa; © copyright; † dag; ℸ daleth; ‡ ddag; ° degree; δ delta; ð dh eth; ╲
diagdown; ╱ diagup; ⌀ diameter; ♢ diamonds diamondsuit; ϝ digamma; đ dj; ″ dprime; ℓ ell; ∅︀ empty
emptyset; ∅ varnothing; ϵ epsilon; η eta; € euro; ∃ exist exists; ♀ female venus; ♭ flat; ∀ forall; γ
gamma; ℷ gimel; ℏ hbar hslash; ♡ hearts heartsuit; ı imath; ∞ infin infty; ι iota; ȷ jmath; κ kappa; ϟ
koppa; λ lambda; ☾ leftmoon; ↯ lightning; ¬ lnot neg; ‘ lq; ♂ male mars; ✠ maltese; £ mathsterling pounds;
∡ measuredangle; ℧ mho; μ mu; ∇ nabla; ♮ natural; ∄ nexists; ŋ ng; ν nu; ø o; œ oe; ω omega; ο omicron; ∂
partial; ‰ permil; ϕ phi; π pi; ′ prime; ψ psi; ⁗ qprime; ρ rho; ☽ rightmoon; ϡ sampi; ♯ sharp; σ sigma; ☺
smiley; ♠ spadesuit spades; ∢ sphericalangle; ß ss; ϛ stigma; ☼ sun; √ surd; τ tau; θ theta; ϑ thetasym
vartheta; ⊤ top; △ triangle; ▽ triangledown; ‴ trprime; υ upsilon; 𝛥 varDelta; 𝛤 varGamma; 𝛬 varLambda; 𝛺
varOmega; 𝛷 varPhi; 𝛱 varPi; 𝛹 varPsi; 𝛴 varSigma; 𝛩 varTheta; 𝛶 varUpsilon; 𝛯 varXi; ♧ varclubsuit; ♦
vardiamondsuit; ε varepsilon; ♥ varheartsuit; ϰ varkappa; φ varphi; ϖ varpi; ϱ varrho; ς varsigma; ♤
varspadesuit; ⋮ varvdots; | vert; ℘ weierp wp; ξ xi; ¥ yen; ζ zeta; ⏐ arrowvert; ♁ earth; ☿ mercury; ♃
jupiter; ♄ saturn; ♅ uranus; ♆ neptune; ♇ pluto; ☹ frownie; ⬡ hexagon; ⬠ pentagon; ● CIRCLE; ⎪ bracevert; ◐
LEFTcircle; ◑ RIGHTcircle; _ mathunderscore; $ mathdollar
"""

BINARY = r"""
& And with; ⋒ Cap doublecap; ⋓ Cup doublecup; ‡ Dagger ddagger; ⊼ Nand barwedge; ⊽ Nor barvee; ⨷ Otimes; ⩎
Sqcap; ⩏ Sqcup; ⩔ Vee; ⩓ Wedge; ⊻ Xor veebar; ⨿ amalg; ∗ ast; ⩃ barcap; ⩂ barcup; ◯ bigcirc ocircle; ▽
bigtriangledown varbigtriangledown; △ bigtriangleup varbigtriangleup; ⧗ blackhourglass; ⧆ boxast; ⧈ boxbox;
⧇ boxcircle; ⊡ boxdot; ⊟ boxminus; ⊞ boxplus; ⧄ boxslash; ⊠ boxtimes; ∙ bull bullet; ∩ cap; ⩈ capbarcup; ⩀
capdot; ⩇ capovercup; ⋅ cdot centerdot sdot; ∘ circ; ⊛ circledast; ⊚ circledcirc; ⊝ circleddash; ⊜
circledequal; ⦷ circledparallel; ⦶ circledvert; ⦵ circlehbar; ⩍ closedvarcap; ⩌ closedvarcup; ⟡
concavediamond; ⟢ concavediamondtickleft; ⟣ concavediamondtickright; ∪ cup; ⩆ cupovercap; ⋎ curlyvee; ⋏
curlywedge; † dagger; ⋄ diamond; ÷ div; ⋇ divideontimes; ∸ dotminus; ∔ dotplus; ⩢ doublebarvee; ⩞
doublebarwedge; ⟗ fullouterjoin; ⋗ gtrdot; ⧖ hourglass; ⊺ intercal; ⫴ interleave; ⅋ invamp parr upand
bindnasrepma; ∾ invlazys; ∧ land wedge; ⟕ leftouterjoin; ⋋ leftthreetimes; ⋖ lessdot; ⊲ lhd; ∨ lor vee; ⟠
lozengeminus; ⋉ ltimes; ⨪ minusdot; ⨫ minusfdots; ⨬ minusrdots; ∓ mp; ⌽ obar; ⦸ obslash; ⨸ odiv; ⊙ odot
varodot; ⧁ ogreaterthan; ⧀ olessthan; ⊖ ominus circledminus; ⦹ operp; ⊕ oplus varoplus circledplus; ⊘
oslash circledslash; ⊗ otimes varotimes circledtimes; ⨶ otimeshat; ± plusmn pm; ⊳ rhd; ⟖ rightouterjoin; ⋌
rightthreetimes; ⋊ rtimes; ∖ setminus smallsetminus; ⧢ shuffle; ⨳ smashtimes; ⊓ sqcap; ⊔ sqcup; ⫽ sslash
fatslash; ⋆ star; ⫶ threedotcolon; × times; ◃ triangleleft; ⨺ triangleminus; ⨹ triangleplus; ▹
triangleright; ⨻ triangletimes; ⩋ twocaps; ⩊ twocups; ⦂ typecolon; ⊴ unlhd; ⊵ unrhd; ⊎ uplus; ⟇ veedot; ⩣
veedoublebar; ⩖ veeonvee; ⩟ wedgebar; ⟑ wedgedot; ⩠ wedgedoublebar; ⩕ wedgeonwedge; ⟤ whitesquaretickleft;
⟥ whitesquaretickright; ≀ wr; ⨟ fatsemi; ◫ boxbar; ▯ oblong
"""

RELATIONS = r"""
⌢ coh; ≍ incoh; = equal; ≎ Bumpeq; ∷≈ Colonapprox coloncolonapprox; ∷− Coloneq coloncolonminus; ⩴ Coloneqq
coloncolonequals; ⇓ Darr Downarrow dArr; ≑ Doteq doteqdot; −∷ Eqcolon minuscoloncolon; =∷ Eqqcolon
equalscoloncolon; ⇔ Harr Leftrightarrow Lrarr hArr lrArr; ⋈ Join bowtie Bowtie; ⇐ Larr Leftarrow lArr; ⇚
Lleftarrow; ⟸ Longleftarrow; ⟺ Longleftrightarrow; ⟹ Longrightarrow; ↰ Lsh; ⫫ Perp; ⇒ Rarr Rightarrow rArr;
⇛ Rrightarrow; ↱ Rsh; ⋐ Subset; ⋑ Supset; ⇑ Uarr Uparrow uArr; ⇕ Updownarrow; ⊫ VDash; ⊩ Vdash; ⊪ Vvdash; ≈
approx thickapprox; ≊ approxeq; ≘ arceq; ≍ asymp; ≌ backcong; ∍ backepsilon; ∽ backsim; ⋍ backsimeq; ∵
because; ≬ between; ◀ blacktriangleleft LHD; ▶ blacktriangleright RHD; ≏ bumpeq; ≗ circeq; ↺
circlearrowleft; ↻ circlearrowright; ∷ coloncolon dblcolon; ≔ coloneqq colonequals; ≅ cong; ⋞ curlyeqprec;
⋟ curlyeqsucc; ↶ curvearrowleft; ↷ curvearrowright; ↓ darr downarrow; ⇠ dashleftarrow; ⇢ dashrightarrow
dasharrow; ⊣ dashv; ≐ doteq; ⇊ downdownarrows; ⇃ downharpoonleft; ⇂ downharpoonright; ≖ eqcirc; ∹ eqcolon
minuscolon; ≝ eqdef; ⩵ eqeq; ⩶ eqeqeq; ≕ eqqcolon equalscolon; ≂ eqsim; ⪖ eqslantgtr; ⪕ eqslantless; ≡
equiv; ≒ fallingdotseq; ⌢ frown smallfrown; ≥ ge geq; ≧ geqq; ⩾ geqslant; ← gets larr leftarrow; ≫ gg; ⋙
ggg gggtr; ⪊ gnapprox; ⪈ gneq; ≩ gneqq; ⋧ gnsim; > gt; ⪆ gtrapprox; ⋛ gtreqless; ⪌ gtreqqless; ≷ gtrless; ≳
gtrsim apprge; ≩︀ gvertneqq; ↔ harr leftrightarrow lrarr; ↩ hookleftarrow; ↪ hookrightarrow; ⊷ imageof; ∈
in isin; ≤ le leq; ⇝ leadsto rightsquigarrow; ↢ leftarrowtail; ↽ leftharpoondown; ↼ leftharpoonup; ⇇
leftleftarrows; ⇆ leftrightarrows; ⇋ leftrightharpoons; ↭ leftrightsquigarrow; ≦ leqq; ⩽ leqslant; ⪅
lessapprox; ⋚ lesseqgtr; ⪋ lesseqqgtr; ≶ lessgtr; ≲ lesssim apprle; ≪ ll; ⋘ lll llless; ⪉ lnapprox; ⪇ lneq;
≨ lneqq; ⋦ lnsim; ⟵ longleftarrow; ⟷ longleftrightarrow; ⟼ longmapsto; ⟶ longrightarrow; ↫ looparrowleft; ↬
looparrowright; < lt; ≨︀ lvertneqq; ↤ mapsfrom mappedfrom; ↦ mapsto; ≞ measeq; ∣ mid shortmid divides; ⊨
models vDash; ⊸ multimap; ⧟ multimapboth; ⟜ multimapinv; ⇍ nLeftarrow; ⇎ nLeftrightarrow; ⇏ nRightarrow; ⊯
nVDash; ⊮ nVdash; ≇ ncong; ≠ ne neq; ↗ nearrow; ≱ ngeq ngeqq ngeqslant; ≯ ngtr; ∋ ni owns; ↚ nleftarrow; ↮
nleftrightarrow; ≰ nleq nleqq nleqslant; ≮ nless; ∤ nmid nshortmid ndivides notdivides; ∉ notin; ∌ notni
notowns; ∦ nparallel nshortparallel; ⊀ nprec; ⋠ npreceq; ↛ nrightarrow; ≁ nsim; ⊄ nsubset; ⊈ nsubseteq
nsubseteqq; ⊁ nsucc; ⋡ nsucceq; ⊅ nsupset; ⊉ nsupseteq nsupseteqq; ⋪ ntriangleleft; ⋬ ntrianglelefteq; ⋫
ntriangleright; ⋭ ntrianglerighteq; ⊭ nvDash; ⊬ nvdash notVdash; ↖ nwarrow; ⊶ origof; ∥ parallel
shortparallel; ⟂ perp; ⋔ pitchfork; ≺ prec; ⪷ precapprox; ≼ preccurlyeq; ⪯ preceq; ⪹ precnapprox; ⪵
precneqq; ⋨ precnsim; ≾ precsim; ∝ propto varpropto; ≟ questeq; → rarr rightarrow to; ↾ restriction
upharpoonright; ↣ rightarrowtail; ⇁ rightharpoondown; ⇀ rightharpoonup; ⇄ rightleftarrows; ⇌
rightleftharpoons; ⇉ rightrightarrows; ≓ risingdotseq; ↘ searrow; ∼ sim thicksim; ≃ simeq; ⌣ smallsmile
smile; ⊏ sqsubset; ⊑ sqsubseteq; ⊐ sqsupset; ⊒ sqsupseteq; ≛ stareq; ⥼ strictfi; ⥽ strictif; ⊂ sub subset;
⊆ sube subseteq; ⫅ subseteqq; ⊊ subsetneq; ⫋ subsetneqq; ≻ succ; ⪸ succapprox; ≽ succcurlyeq; ⪰ succeq; ⪺
succnapprox; ⪶ succneqq; ⋩ succnsim; ≿ succsim; ⊇ supe supseteq; ⊃ supset; ⫆ supseteqq; ⊋ supsetneq
varsupsetneq; ⫌ supsetneqq; ↙ swarrow; ∴ therefore; ⊴ trianglelefteq trianglelefteqslant; ≜ triangleq; ⊵
trianglerighteq trianglerighteqslant; ↞ twoheadleftarrow; ↠ twoheadrightarrow; ↑ uarr uparrow; ↕
updownarrow; ↿ upharpoonleft; ⇈ upuparrows; ⊊︀ varsubsetneq; ⫋︀ varsubsetneqq; ⫌︀ varsupsetneqq; △
vartriangle; ⊲ vartriangleleft; ⊳ vartriangleright; ⊢ vdash; ≚ veeeq; ≙ wedgeq; ⤇ Mapsto; ⟾ Longmapsto; ⤆
Mapsfrom Mappedfrom; ⟽ Longmapsfrom Longmappedfrom; ⟻ longmapsfrom longmappedfrom; ⇽ leftarrowtriangle; ⇾
rightarrowtriangle; ⇿ leftrightarrowtriangle; ⋢ nsqsubseteq; ⋤ sqsubsetneq; ⪱ precneq; ⪲ succneq; ≭ nasymp;
≉ napprox; ≄ nsimeq; ≢ nequiv
"""

LARGE = r"""
⋂ bigcap; ⋃ bigcup; ⨃ bigcupdot; ⨄ bigcupplus biguplus; ⨇ bigdoublewedge; ⨈ bigdoublevee; ⨀ bigodot; ⨁
bigoplus; ⨂ bigotimes; ⨅ bigsqcap; ⨆ bigsqcup; ⨉ bigtimes; ⋁ bigvee; ⋀ bigwedge; ∐ coprod; ∏ prod; ∑ sum; ⫼
biginterleave bigparallel; ⋎ bigcurlyvee; ⋏ bigcurlywedge
"""

INTEGRALS = r"""
⨏ fint; ⨌ iiiint; ∭ iiint; ∬ iint; ∫ int smallint; ⨎ intBar; ⨍ intbar; ⨙ intcap; ∱ intclockwise; ⨚ intcup;
⨗ intlarhk; ⨘ intx; ∰ oiiint; ∯ oiint; ∮ oint; ⨕ pointint; ⨒ rppolint; ⨓ scpolint; ⨖ sqint; ∲
varointclockwise; ∳ ointctrclockwise varointctrclockwise
"""

PUNCTUATION = r"""
⋅ cdotp; : colon; . ldotp
"""

ELLIPSES = r"""
⋯ cdots; ⋱ ddots; … ldots; ⋰ iddots
"""

OPENING = r"""
⟪ lAngle; ⦃ lBrace; ‖ lVert; ⟨ lang langle; [ lbrack; ⌈ lceil; ⌊ lfloor; ⟮ lgroup; ⦉ llangle; ⟦ llbracket;
⌞ llcorner; ⦇ llparenthesis; ⎰ lmoustache; ( lparen; | lvert; ⌜ ulcorner
"""

CLOSING = r"""
⌟ lrcorner; ⟫ rAngle; ⦄ rBrace; ‖ rVert; ⟩ rang rangle; ] rbrack; ⌉ rceil; ⌋ rfloor; ⟯ rgroup; ⎱
rmoustache; ) rparen; ⦊ rrangle; ⟧ rrbracket; ⦈ rrparenthesis; | rvert; ⌝ urcorner
"""
