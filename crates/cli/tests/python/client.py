"""Drives our MCP server with the official SDK: lists tools, spawns, loses the connection, comes back, reads the result.

usage: client.py stdio MODE BINARY PROJECT | client.py http MODE URL TOKEN    (MODE: auto, legacy or a version)
"""

import asyncio
import os
import re
import signal
import sys

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

DOOR, MODE, WHERE, KEY = sys.argv[1:5]
TOOLS = {"agent_spawn", "agent_send", "agent_list", "task_output", "task_cancel", "task_list"}


def connect() -> Client:
    if DOOR == "stdio":
        order = ["--project", KEY, "mcp", "--model", "script:script.json"]
        return Client(StdioServerParameters(command=WHERE, args=order, cwd=KEY, env=dict(os.environ)), mode=MODE)
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {KEY}"}, timeout=60)
    return Client(streamable_http_client(WHERE, http_client=http), mode=MODE)


def field(text: str, name: str) -> str:
    found = re.search(rf"^{name}: (.*)$", text, re.M)
    assert found, f"no `{name}` in {text!r}"
    return found[1]


async def use(client: Client, tool: str, arguments: dict, **more) -> str:
    result = await client.call_tool(tool, arguments, **more)
    text = "".join(block.text for block in result.content)
    assert not result.is_error, text
    return text


async def main() -> None:
    async with connect() as client:
        listed = {tool.name for tool in (await client.list_tools()).tools}
        assert TOOLS <= listed, listed
        spawned = await use(client, "agent_spawn", {"agent_id": "helper", "task": "slow", "timeout_seconds": 0})
        task, key = field(spawned, "task_id"), field(spawned, "agent_key")
    told = []

    async def progress(done, total, message):
        told.append(message)

    async with connect() as client:
        read = await use(client, "task_output", {"task_id": task, "timeout": 30000}, progress_callback=progress)
        assert "heard slow" in read, read
        assert told, "nobody said that the call is at work"
        sent = await use(client, "agent_send", {"agent_key": key, "message": "quick"})
        assert "heard quick" in sent, sent
    print("read by the client:", task)


asyncio.run(asyncio.wait_for(main(), 90))
