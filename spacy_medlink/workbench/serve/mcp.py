"""`medlink mcp`: a terminology as tools of an assistant, by the Model Context Protocol (MCP).

The assistant chooses, the terminology is ours: each concept comes with its name, id, codes and
probability, and what is not linked with a reason. Nothing is written, and no text is an order.
"""

import json
from collections.abc import Mapping
from threading import Lock
from typing import Annotated, Any

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import PARSE_ERROR, ErrorData, JSONRPCError, ToolAnnotations
from pydantic import Field, ValidationError

from ... import __version__
from ...errors import Errors, MedlinkError
from ...types import Facts
from ...util.json_text import HalfPairError, check_pairs, read_json
from ..mapping.mapper import Target
from ..mapping.terms import Term
from . import tool_results as results
from .process import LinkProcess
from .terminology import Opening

_SECONDS = 60.0  # for a call; then the process is ended with what it works on
_READ_ONLY = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
_STATUS = {
    "negated": "absent", "uncertain": "possible", "historical": "past",
    "hypothetical": "conditional", "family": "family",
}  # fmt: skip
_INSTRUCTIONS = (
    "Links medical text to concepts of a terminology, offline. Take ids and codes from these tools "
    "alone, and check others with get_concept: what it does not have does not exist here. A "
    "probability is that of the link being right. Where there is no link, say so."
)

Text = Annotated[str, Field(min_length=1, max_length=100_000, description="a clinical text")]
Candidates = Annotated[int, Field(ge=1, le=50, description="further concepts to consider")]


def make_server(opening: Opening) -> MCPServer:
    """Make the server of a terminology, whose process starts here.

    RAISES (MedlinkError): what `Terminology` raises.
    """
    tools = Tools(opening)
    functions = (
        tools.link_text, tools.search_concepts, tools.get_concept, tools.explain_link,
        tools.map_terms,
    )  # fmt: skip
    made = [Tool.from_function(function, annotations=_READ_ONLY) for function in functions]
    for tool in made:  # the SDK itself ignores unknown arguments
        model = tool.fn_metadata.arg_model
        model.model_config["extra"] = "forbid"
        model.model_rebuild(force=True)
        tool.parameters["additionalProperties"] = False
    return _Server(
        "medlink", version=__version__, instructions=_INSTRUCTIONS, log_level="ERROR", tools=made
    )


class _Server(MCPServer):
    """A server that says in words what is wrong with a call, and with a line of no message.

    The SDK shows the report of a program for the first, and passes over the second.
    """

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        """Call a tool. RAISES (ToolError): E623 for arguments that it does not take."""
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            fault = error.__cause__
            if isinstance(fault, ValidationError) and fault.title.endswith("Arguments"):
                wrong = "; ".join(map(_in_words, fault.errors()))
                raise ToolError(str(Errors.bad_request(wrong=wrong))) from error
            said = str(error).removeprefix(f"Error executing tool {name}: ")
            raise type(error)(said) from fault

    async def run_stdio_async(self) -> None:
        """Answer on standard input and output."""
        server = self._lowlevel_server
        sender, readable = anyio.create_memory_object_stream[SessionMessage | Exception]()
        async with stdio_server() as (lines, answers), anyio.create_task_group() as group:

            async def read() -> None:
                async with sender:
                    async for line in lines:
                        is_bad = isinstance(line, ValidationError)
                        await (answers.send(_unread(line)) if is_bad else sender.send(line))

            group.start_soon(read)
            await server.run(readable, answers, server.create_initialization_options())
            group.cancel_scope.cancel()


def _in_words(fault: Mapping[str, Any]) -> str:
    """Say what is wrong with an argument."""
    name = ".".join(map(str, fault["loc"]))
    said = {"missing": "is missing", "extra_forbidden": "is no argument of this tool"}
    problem = fault["msg"].replace("Input", "it").replace("String", "it").replace("List", "it")
    return f"{name} {said[fault['type']]}" if fault["type"] in said else f"{name}: {problem}"


def _unread(fault: ValidationError) -> SessionMessage:
    """Make the error of a message that is not read, under its id where it has one."""
    id, problem, message = None, "it is no message of JSON-RPC", fault.errors()[0]["input"]
    try:
        message = json.loads(message) if isinstance(message, str) else message
        if isinstance(message, dict) and isinstance(message.get("id"), int | str):
            check_pairs(message["id"])
            id = message["id"]
        check_pairs(message)
    except (ValueError, RecursionError) as error:
        problem = str(error) if isinstance(error, HalfPairError) else "it is no JSON"
    data = ErrorData(code=PARSE_ERROR, message=f"The message cannot be read: {problem}.")
    return SessionMessage(JSONRPCError(jsonrpc="2.0", id=id, error=data))


class Tools:
    """The tools: each asks the process of the terminology, one call after another.

    RAISES (ToolError): what an assistant can mend, with code and remedy.
    """

    def __init__(self, opening: Opening) -> None:
        self._process, self._lock = LinkProcess(opening), Lock()
        self._paths: list[str] = self._process.start()["paths"]

    def link_text(self, text: Text, candidates: Candidates = 3) -> results.Linked:
        """Find the medical mentions of a text, and link them to concepts.

        Each mention has its place (start, end), the id, name, codes and probability of its concept,
        or the reason why it has none, and what the text says of it: absent, possible, past,
        conditional or family.
        """
        (records,) = self._ask("link", [text], {}, candidates + 1)
        return {"mentions": [_mention(record) for record in read_json(records.decode())]}

    def search_concepts(
        self,
        query: Annotated[str, Field(min_length=1, max_length=200, description="a name")],
        limit: Annotated[int, Field(ge=1, le=100, description="concepts at most")] = 10,
    ) -> results.Hits:
        """Find concepts by name: exact names, parts of names, or names that are spelled nearly so.

        An empty list says that the terminology has no such name.
        """
        return {"concepts": self._ask("search", query, limit)}

    def get_concept(
        self,
        code: Annotated[
            str, Field(min_length=1, max_length=200, description="HP:0001945, or ICD10CM:R50.9")
        ],
    ) -> results.Resolved:
        """Check whether an id or code exists, and read what it stands for.

        A code of another vocabulary may have the vocabulary before it. status: "current", an id in
        use; "code", of the concepts listed; "replaced", a retired id with its successor; "retired",
        without one; "unknown", no such code: do not use it.
        """
        answer: results.Resolved = self._ask("resolve", code)
        return answer

    def explain_link(
        self,
        text: Text,
        mention: Annotated[str, Field(min_length=1, max_length=1_000, description="words of it")],
    ) -> results.Explained:
        """Say why a mention of a text is linked as it is, or not at all."""
        start = text.find(mention)
        if start < 0 or not mention.strip():
            raise ToolError("The text does not have this mention: repeat its words as they stand.")
        why = read_json(self._ask("explain", text, start, start + len(mention)).decode())
        explained: results.Explained = why
        return explained

    def map_terms(
        self,
        terms: Annotated[
            list[Annotated[str, Field(min_length=1, max_length=1_000)]],
            Field(min_length=1, max_length=256, description="local terms, as in a problem list"),
        ],
        candidates: Candidates = 3,
    ) -> results.Mappings:
        """Map local terms to concepts: match says whether the concept is exact, broader ..."""
        mappings = self._ask(
            "map", [Term(mapping) for mapping in terms], [[]] * len(terms), candidates
        )
        return {
            "mappings": [
                {
                    "term": mapping.term.name,
                    "targets": [_target(target) for target in mapping.targets],
                    "candidates": [_target(target) for target in mapping.others],
                    **({} if mapping.targets else {"reason": "no concept is near enough"}),
                }
                for mapping in mappings
            ]
        }

    def _ask(self, method: str, *args: Any) -> Any:
        try:
            with self._lock:
                return self._process.ask(method, args, _SECONDS)
        except MedlinkError as error:
            message = str(error)
            for path in self._paths:
                message = message.replace(path, "the terminology")
            raise ToolError(message) from error


def _mention(record: Facts) -> results.LinkedMention:
    kept = ("mention", "start", "end", "name", "codes", "reason", "section", "match")
    others = [
        candidate for candidate in record["candidates"] if candidate["id"] not in record["ids"]
    ]
    short = {name: record[name] for name in kept if record.get(name)}
    linked: Any = {
        **short, "id": next(iter(record["ids"]), None), "probability": record["prob"],
        "status": [word for name, word in _STATUS.items() if record.get(name)],
        "candidates": [
            {"id": candidate["id"], "name": candidate["name"], "probability": candidate["prob"]}
            for candidate in others
        ],
    }  # fmt: skip
    mention: results.LinkedMention = linked
    return mention


def _target(target: Target) -> results.Target:
    return {
        "id": target.id, "name": target.name, "match": target.match, "matched": target.matched,
        "probability": target.prob,
    }  # fmt: skip
