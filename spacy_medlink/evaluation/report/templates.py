"""The templates of pages and charts, and what they are filled with."""

from importlib.resources import files

from jinja2 import Environment, StrictUndefined


def environment() -> Environment:
    """Make the environment of the room's templates: what is put in is escaped."""
    return Environment(autoescape=True, undefined=StrictUndefined)


def resource(name: str) -> str:
    """Read a file that lies beside this module."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
