"""A server written with the official SDK, for our client: stdio, or HTTP on a free port that is printed first.

usage: server.py stdio | server.py http
"""

import os
import socket
import sys

from mcp.server import MCPServer
from mcp.types import ToolAnnotations

server = MCPServer("shop")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def price(article: str, amount: int = 1) -> str:
    """What an article costs."""
    return f"{amount} {article}: {amount * 7}"


@server.tool()
def order(article: str) -> dict:
    """Orders an article."""
    if article == "unicorn":
        raise ValueError("out of stock")
    return {"ordered": article, "folder": os.getcwd(), "key": os.environ.get("OPENAI_API_KEY", "none")}


if sys.argv[1] == "stdio":
    server.run("stdio")
else:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    print(port, flush=True)
    server.run("streamable-http", host="127.0.0.1", port=port)
