"""Language codes: from those of the NLM's vocabularies (ISO 639-2/B) to ISO 639-1."""

_CODES = {
    "ARA": "ar", "BAQ": "eu", "BUL": "bg", "CAT": "ca", "CHI": "zh", "CZE": "cs", "DAN": "da",
    "DUT": "nl", "ENG": "en", "EST": "et", "FIN": "fi", "FRE": "fr", "GER": "de", "GRE": "el",
    "HEB": "he", "HIN": "hi", "HRV": "hr", "HUN": "hu", "ICE": "is", "ITA": "it", "JPN": "ja",
    "KOR": "ko", "LAV": "lv", "LIT": "lt", "NOR": "no", "PER": "fa", "POL": "pl", "POR": "pt",
    "RUM": "ro", "RUS": "ru", "SCR": "hr", "SLO": "sk", "SLV": "sl", "SPA": "es", "SRP": "sr",
    "SWE": "sv", "THA": "th", "TUR": "tr", "UKR": "uk", "VIE": "vi",
}  # fmt: skip


def iso_639_1(code: str) -> str:
    """Turn a three-letter code such as "SPA" or "spa" into ISO 639-1; unknown ones stay."""
    return _CODES.get(code.upper(), code.lower())
