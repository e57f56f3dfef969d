"""Link medical mentions in text to concepts of a terminology, as a spaCy component."""

__version__ = "0.1.0"
