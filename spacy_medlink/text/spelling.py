"""One spelling of a word: British as American, and words that notes write short in full.

"Haemorrhagic oedema" and "hemorrhagic edema" are one name, and so are "resp insuff" and
"respiratory insufficiency".

Both a terminology's names and a text's mentions are folded, so that a rule need not be right about
every word that it meets ("exercise" becomes "exercize" on both sides): it must only not make two
words of different meaning the same.
"""

import re

# (British, American) in the order in which they are tried at a place of a word.
# ae and oe of Greek and Latin stems; words in -our that are no other word without the u, as four
# is; others
_LISTED = (
    "haem:hem aemi:emi aesthe:esthe aesthi:esthi aetiol:etiol anaest:anest gynaec:gynec paed:ped "
    "paeni:peni phaeo:pheo palaeo:paleo naev:nev caec:cec caes:ces faec:fec oedem:edem "
    "oesoph:esoph oestr:estr rrhoea:rrhea rrhoei:rrhei pnoea:pnea pnoei:pnei foet:fet coel:cel "
    "amoeb:ameb "
    "tumour:tumor colour:color behaviour:behavior odour:odor humour:humor labour:labor "
    "vapour:vapor favour:favor rigour:rigor leuco:leuko sulph:sulf manoeuvre:maneuver "
    "aluminium:aluminum "
)
_PARTS = dict(pair.split(":") for pair in _LISTED.split())
# Words that clinicians write short within a phrase, each with one meaning alone. Those with
# several, such as "ca" and "hep", stand in the lexicon, which reads what is around them.
_SHORTENED = (
    "abd:abdominal abdo:abdominal resp:respiratory pulm:pulmonary bilat:bilateral "
    "malig:malignant synd:syndrome "
    "dz:disease insuff:insufficiency fx:fracture fxs:fracture infxn:infection infx:infection "
    "fxn:function dysfxn:dysfunction dysfx:dysfunction mets:metastase regurg:regurgitation "
    "pna:pneumonia pyelo:pyelonephritis tachy:tachycardia brady:bradycardia etoh:alcohol "
    "hemorr:hemorrhage incont:incontinence constip:constipation "
)
IN_FULL = dict(pair.split(":") for pair in _SHORTENED.split())
"""Words that are written short, and how they are spelled in full, in the singular of keys."""
_ENDINGS = (
    (re.compile(r"(fib|cent|lit|met|tit|goit|calib)re$"), r"\1er"),
    (re.compile(r"is(e|ed|er|ing|ation)$"), r"iz\1"),
    (re.compile(r"ys(e|ed|er|ing)$"), r"yz\1"),
    (re.compile(r"^grey(ish)?$"), r"gray\1"),
    (re.compile(r"^mould"), "mold"),
)
_PART = re.compile("|".join(_PARTS))
# One of these is in each of the parts, and one of these letters ends what `_ENDINGS` change: most
# words have neither, and to look for these takes a tenth of the time.
_HINTS = ("ae", "oe", "our", "leuco", "sulph", "aluminium")
_LAST = frozenset("edrgnyh")


def respelled(word: str) -> str:
    """Spell a word as in American English, and in full; other words stay what they are.

    word (str): in lower case and in the singular.
    """
    if word in IN_FULL:
        return IN_FULL[word]
    for hint in _HINTS:
        if hint in word:
            word = _PART.sub(lambda part: _PARTS[part.group()], word)
            break
    if word[-1:] in _LAST or word.startswith("mould"):
        for pattern, spelling in _ENDINGS:
            word = pattern.sub(spelling, word)
    return word
