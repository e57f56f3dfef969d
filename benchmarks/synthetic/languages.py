"""Twenty languages in which invented medical words are spelled.

A word is a stem that every language writes in its own script and ends in its own way, as real
medical words do. Stems have exactly two vowels and are different for every number, so a word, and
a name made of words, can be known by numbers alone. Nothing comes from a terminology.
"""

from dataclasses import dataclass

HEADS = 1 << 13
SITES = 1 << 13
MODIFIERS = 1 << 9
ONSETS = "b d f g l m n p r s t v z h c th ph st tr br cl dr gl pr".split()
MIDDLES = "l r n m v d b g s t ndr rt mb lg rn nt st xt rv gn tr br ld rm".split()
VOWELS = "aeiou"
KANA = "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン"
CYRILLIC = str.maketrans("abcdefghilmnoprstuvxz", "абцдефгхилмнопрстувкз")
GREEK = str.maketrans("acdefghilmnoprstvxz", "ακδεφγχιλμνοπρστβξζ") | {
    ord("b"): "μπ",
    ord("u"): "ου",
}


@dataclass(frozen=True)
class Language:
    """A language of the names.

    lat (str): code in MRCONSO. weight (int): its share of names, in thousandths.
    script (str): latin, cyrillic, greek, han, kana or hangul.
    letters (str): a letter of the stems and the letter that takes its place, or nothing.
    joints (str): "of", "of the" and "with", separated by bars.
    heads, sites, modifiers (str): word endings, separated by spaces.
    """

    lat: str
    weight: int
    script: str
    letters: str
    joints: str
    heads: str
    sites: str
    modifiers: str

    @property
    def gap(self) -> str:
        """What stands between two words."""
        return "" if self.script in ("han", "kana") else " "

    @property
    def cased(self) -> bool:
        """Whether the script has capitals."""
        return self.script in ("latin", "cyrillic", "greek")


# In English, the sixteen endings of head words go with the sixteen semantic types, one to one.
LANGUAGES = [
    Language(*row)
    for row in [
        ("ENG", 580, "latin", "", "of|of the|with",
         "itis oma osis omania algia uria orrhexis omab "
         "azole ase ectomy oscopy ula in ol ometry",
         "um us a is on", "al ic ous ar oid"),
        ("SPA", 120, "latin", "uú", "de|de la|con",
         "itis osis oma ía algia ectomía ación", "o a io us", "al ico ario oso"),
        ("FRE", 40, "latin", "eé", "de|du|avec",
         "ite ose ome ie algie ectomie ation", "e um us", "al ique aire eux"),
        ("GER", 35, "latin", "uü", "von|der|mit",
         "itis ose om ie algie ektomie ation", "um us e", "al isch är ös"),
        ("POR", 35, "latin", "aã", "de|do|com",
         "ite ose oma ia algia ectomia ação", "o a io", "al ico ário oso"),
        ("RUS", 30, "cyrillic", "", "при|у|с",
         "ит оз ома ия алгия эктомия ация", "ум ус а ис", "альный ический озный"),
        ("JPN", 35, "kana", "", "の|における|を伴う",
         "炎 症 腫 痛 術 病", "部 骨 腺", "性 型"),
        ("CHI", 20, "han", "", "的|之|伴",
         "炎 症 瘤 痛 术 病", "部 骨 腺 管", "性 型"),
        ("KOR", 15, "hangul", "", "의|내|동반",
         "염 증 종 통 술 병", "부 골 선", "성 형"),
        ("DUT", 25, "latin", "oö", "van|van de|met",
         "itis ose oom ie algie ectomie atie", "um us e", "aal isch air"),
        ("ITA", 25, "latin", "uù", "di|del|con",
         "ite osi oma ia algia ectomia azione", "o a io", "ale ico ario oso"),
        ("CZE", 15, "latin", "sš", "při|v|s",
         "itida óza om ie algie ektomie ace", "um us a", "ální ický ární ózní"),
        ("FIN", 6, "latin", "aä", "ja|tai|sekä",
         "iitti oosi ooma ia algia ektomia", "umi us a", "inen iivinen aalinen"),
        ("SWE", 8, "latin", "oö", "i|av|med",
         "it os om i algi ektomi ation", "um us a", "al isk ös"),
        ("NOR", 6, "latin", "oø", "i|av|med",
         "itt ose om i algi ektomi asjon", "um us a", "al isk øs"),
        ("POL", 6, "latin", "lł", "w|u|z",
         "itis oza oma ia algia ektomia acja", "um us a", "alny iczny owy"),
        ("HUN", 8, "latin", "oő", "és|a|valamint",
         "itisz ózis óma ia algia ektómia áció", "um us a", "ális ikus ózus"),
        ("TUR", 5, "latin", "sş", "ve|veya|ile",
         "it oz om i alji ektomi asyon", "um us a", "al ik öz"),
        ("GRE", 4, "greek", "", "του|της|με",
         "ίτιδα ωση ωμα ία αλγία εκτομή", "ιο ος α ον", "ικός ώδης"),
        ("LAV", 4, "latin", "nņ", "no|pie|ar",
         "īts oze oma ija algija ektomija", "ums us a", "āls isks ozs"),
    ]
]  # fmt: skip


def digits(number: int, alphabet: str, count: int) -> str:
    """Write a number with the letters of an alphabet.

    number (int): the number. alphabet (str): its digits. count (int): how many are written.
    RETURNS (str): the digits, the lowest first.
    """
    out = ""
    for _ in range(count):
        number, digit = divmod(number, len(alphabet))
        out += alphabet[digit]
    return out


def latin_stem(number: int) -> str:
    """Spell the stem of a word in Latin letters: consonants and vowels, with exactly two vowels.

    number (int): which word, below 24 * 5 * 24 * 5 * 24.
    RETURNS (str): the stem, different for every number.
    """
    rest = number * 104_729 % (len(ONSETS) * 25 * len(MIDDLES) ** 2)
    stem = ""
    for syllable in (ONSETS, VOWELS, MIDDLES, VOWELS, MIDDLES):
        rest, digit = divmod(rest, len(syllable))
        stem += syllable[digit]
    return stem


def stem_maker(language: Language, role: int) -> list[str]:
    """List the stems of a language's heads (role 0), sites (1) or modifiers (2).

    language (Language): the language. role (int): which kind of word.
    RETURNS (list[str]): a stem a word, all different.
    """
    size, first = ((HEADS, 0), (SITES, HEADS), (MODIFIERS, HEADS + SITES))[role]
    spread = [i * 4099 % size for i in range(size)]
    if language.script == "han" or (language.script == "kana" and role == 1):
        # Unicode lists ideographs by radical: sickness, flesh (the body's parts), heart.
        start = (0x7590, 0x8080, 0x6020)[role]
        return [digits(i, "".join(map(chr, range(start, start + 96))), 2) for i in spread]
    if language.script == "kana":
        return [digits(i * 11, KANA, 3) for i in spread]
    if language.script == "hangul":
        alphabet = "".join(chr(0xAC00 + 28 * i) for i in range(399))
        return [digits((i + first) * 9, alphabet, 2) for i in spread]
    stems = [latin_stem(first + i) for i in range(size)]
    if language.script == "cyrillic":
        return [stem.translate(CYRILLIC) for stem in stems]
    if language.script == "greek":
        return [stem.translate(GREEK) for stem in stems]
    return [stem.replace(*language.letters) for stem in stems] if language.letters else stems


def inflect(stems: list[str], endings: str) -> list[str]:
    """Give every stem one of the endings.

    stems (list[str]): the stems. endings (str): separated by spaces.
    RETURNS (list[str]): a word a stem.
    """
    choices = endings.split()
    return [stem + choices[i % len(choices)] for i, stem in enumerate(stems)]
