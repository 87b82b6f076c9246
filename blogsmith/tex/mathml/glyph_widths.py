"""Widths of the math font's glyphs, written by `themes/paper/fonts/widths.py`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from string import ascii_letters
from types import MappingProxyType

DEFAULT = 0.72
"""Width in em of a character that the table omits."""

_WIDTHS = """
=20 odeoinobffgocecgiiiiiiiiiiccooogtolnomlopfgolspokomjlpnunmlfgfijcijhjieikddkdrkjjjggekipiihedekooooooooo
ooooooooooooooooooooooooodiilidigqgjoogfgoffckldcfhjsssgoooooosnmmmmffffopoooooooppppmkkiiiiiiohiiiiddddjkjj
jjjojkkkkijioioioinhnhnhnhomokmimimimimioioioioipkqkfdfdfdfdfdpkgdokkldldlflfldpkpkpkkpkojojojuqmgmgmgjgjgjg
jglelflepkpkpkpkpkpkupmimlhlhlhdjooooooohooooooojoeooqooojdiookoojooojoooodeoeopkooooloooohjoogochhcoooooooo
oooooooooooooooooooioooooooooooooooodooooooooooisooj =370 oooooooooooooodoooooahodpsioqoqrcolknmlpofoospmopk
ollmonopfmkgjcikjiiggjjcijkhgiljfkgilimmciiimohklookromikilgjhnhoooooooooooooojioooggooooooooommoknjffgtvpmq
mpollknmtkqqmnspopknlmonpmwwoslnwmijjhjiphlljknljljhhioiljqqkoiipjiikhigdddpqkjlil =2010 eeiivuhjcccchhhhjjh
ooisooooooooovEekqdhkjeeokojoqoofbooroooliigcqgiooooxoooooooooooooooooooooooogcoogfgffgjjjddigeffgfgffgjjjdd
ooooooooooooooooooooiiooAoooiiooooooooooooiiooiooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooo
ooooottnwmuxlnumuookkinnjqnxqrnpqpoomtAsnmhppmfoopmsjkolwnnmjlftAnkkouokkmoljddnoqvizooosuststssstsroooooooo
oooooooooooooooooooooooooooooooooooooooooujujujuuuuuuuuujujuuujujjuuuuBujiiiiuuuuuuvvuujjuujjuquuququuuuusos
ououuuussuujjujujuuuouooooooooooouquuuuuuuuuukiikkqppooiooikyytooojjjhhqqqouoooodgjmmmmmnvEnvEnnnmmjoooooooo
odooooooooooooooooooorroooooooooooooooooooouuiooooooooooooooooooooooooooooooommmoooommsssssssssttttoooojjoss
sqqvvoooooozzsoimmmotuuuujdoorrrrrolloommmoooDDoooooooooooooooommmmjuuuroiooiooroioit =27C0 ozoooiimvvoreroo
xmmoowwBssFFsKKjqqrrAAjjeekkhhccwwvvBKKKKKKKKKKKoooooooooooooooooooooooooooooooooooooooooooooooooooooooooooo
oooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooo
oooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooouuuuuuuujjuuuuuuGujj
uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuqqjjuuuuuuuuuuuuuuujuujjujujuujjuujjuujjuujjuououuuuuuuuoouuuuuuouoououuoo
lkjhhiiggjjiiiiiiggooooiibjooooooooooottooooooooqqqqqtssssssssssssyytttttxzzzAqssrrrrrrrjjoouuuztnqoooqmzzqq
qqqqqqqqujjjlloohhqqzzzuuuuAAwttMnnnnnnnonnsnnnnnCwjAkoooooooooooppjmmmonnsyszzzlleommmmmmmmmmyymmmmmmmmmqqo
ommmmmmmmmmmxxoooooooooooooowwHoooooooooooooooooooooooooooooooooooooooooooouqsooooooooooooooooooooouuooooooo
oooooooooFFooooooooCCmmmmmjoooososoooooollgjjjjooooAAootnohh =1D400 pnnpmlorgiqmvqpmpojmqowonljkikjfjmedletm
kkkhhflkskkinlmollnpfgmksookomjlomtmllkjgkhkjodhjdrkiljggekjokjiomnpmloqgiomuppmpnknpnvmmmlkilinjmfimesmjmki
ifmkqlmipomroolookrootoonokopnvpmnnlloojonfgnhrmolmjijmlslmkrqnslpnvkktowtqposlpqowrnopmmplkophhpiuopnokjjom
tmnknoopmnooonpluooopopnnounnojjfigeijgehgsmijjhjfmjphihmnoollooejokropooomlnnunmokljljflkddkdrkkllhjfkiojii
ppnqooppoopmvpqprqpoppvopnlkikifkkhgihunkmkjkhnkrjlikllmjjmndilipnnknlkkmjqjikijhjidijccicqjjjjegejhnhhgkllm
kjmnejmjpnnlnlkknkrkjkjkhkiejkddjdrkjkkghfkipiihjlkljilmcikiommkmkjjmjpjijjjhjidijcficpjijjegejhnghgklkmjjmn
diljpmnlnljkmkqkjjjjhjiejjcgjdqjjjjfgfjioiihllllllllllllllllllllllllllkkkkkkkkkkkkkkkkkkkkkkkkkkdhoopnmpmlrp
gqpvqmpqmplmnporqpkjiiggjjdjjljgiljgkgjljmnigkkkirnlkmllpofmnsomopkolllomoqmlkijgijjcjjliiimkgkijlmmmigkklis
ommnmmqpgooupmpqmpmnmpmrrmlkkigijjdkkljiimjhmijlmnnigjkkjtkljmkknnemkpnknnlnkkjpkpomkkjjhhkjdjjkjhjlkhkijojo
okijkojrkljljjnndljpmknnlnjkjpkoolkkijghjjdihjihjkjhkhjninnjijknjqlgooliijkikijjkgjjkjkjkkjjjjjjjjjjjjjjjjjj
jjllllllllll
"""
"""Widths of consecutive characters, one letter each, after `=` and the number of the first character in
hexadecimal. The letter `a` means 16 hundredths of an em, and each following letter 4 more."""

_LARGE = """
∏ 142 ∐ 142 ∑ 111 ∫ 103 ∬ 149 ∭ 195 ∮ 101 ∯ 145 ∰ 191 ⋀ 130 ⋁ 130 ⋂ 130 ⋃ 130 ⨀ 159 ⨁ 159 ⨂ 159 ⨃ 130 ⨄ 130
⨅ 118 ⨆ 118
"""
"""Operators, each followed by the width of its large form in hundredths of an em."""

LEANING: Mapping[int, str] = MappingProxyType(
    {
        4: "𝐻𝐼𝑀𝑯𝑰𝑴𝓇𝓻𝓿𝔀𝛨𝛪𝛭𝜢𝜤𝜧",
        6: "ℱ𝐹𝐽𝐾𝑁𝑇𝑭𝑱𝑲𝑵𝑻𝒩𝒯𝓕𝓘𝓜𝓝𝓣𝘍𝘞𝘟𝙁𝙒𝙓𝛫𝛮𝛱𝛵𝜥𝜨𝜫𝜯𝜻𝞒𝞦",
        8: "𝑈𝑋𝑼𝑿𝓁𝓵𝘛𝘝𝘠𝙏𝙑𝙔𝛤𝛶𝛸𝛹𝛻𝜞𝜰𝜲𝜳𝜵𝞣𝞤𝞩𝞯",
        10: "𝑉𝑊𝑌𝑽𝑾𝒀𝒹𝒻𝓭𝓯𝘧𝙛𝞷",
    }
)
"""Italic correction in hundredths of an em, from the font's table MATH → letters whose ink extends this far
beyond their width at the right."""
FOOTED = """
ℊ ℴ 𝐴 𝑋 𝑨 𝑿 𝒶 𝒸 𝒹 𝒻 𝒽 𝒿 𝓀 𝓆 𝓈 𝓉 𝓪 𝓬 𝓭 𝓯 𝓰 𝓱 𝓳 𝓴 𝓸 𝓺 𝓼 𝓽 𝕛 𝘈 𝘺 𝘼 𝙮 𝛢 𝛬 𝛸 𝜜 𝜦 𝜲 𝞐 𝞚 𝞴
"""
"""Letters whose ink begins to the left of their width, by about `_FOOT` em (`widths.py`)."""


@cache
def glyph_widths() -> Mapping[str, float]:
    """Return the width in em of each character of the table."""
    sizes = {letter: 4 * number / 100 for number, letter in enumerate(ascii_letters, 4)}
    widths: dict[str, float] = {}
    first = 0
    for word in _WIDTHS.split():
        if word.startswith("="):
            first = int(word[1:], 16)
            continue
        characters = map(chr, range(first, first + len(word)))
        widths |= zip(characters, map(sizes.__getitem__, word), strict=True)
        first += len(word)
    return MappingProxyType(widths)


@cache
def large_widths() -> Mapping[str, float]:
    """Return the width in em of large operators in displays."""
    words = _LARGE.split()
    return MappingProxyType(
        {sign: int(width) / 100 for sign, width in zip(words[::2], words[1::2], strict=True)}
    )
