"""The templates of pages and charts, and their environment."""

from importlib.resources import files

from jinja2 import Environment, StrictUndefined


def environment() -> Environment:
    """Make the environment of the report's templates; inserted values are escaped."""
    return Environment(autoescape=True, undefined=StrictUndefined)


def resource(name: str) -> str:
    """Read a file beside this module."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
