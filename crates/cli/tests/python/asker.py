"""Calls an agent that lacks a variable, with the official SDK, and says what a person would.

usage: asker.py stdio MODE BINARY PROJECT | asker.py http MODE URL TOKEN
"""

import asyncio
import os
import sys

import httpx2
from mcp import Client, StdioServerParameters, types
from mcp.client.streamable_http import streamable_http_client

DOOR, MODE, WHERE, KEY = sys.argv[1:5]
asked = []


async def person(context, params):
    asked.append(params)
    return types.ElicitResult(action="accept", content={"CITY": "Oslo"})


async def refuser(context, params):
    return types.ElicitResult(action="decline")


def connect(answer) -> Client:
    if DOOR == "stdio":
        order = ["--project", KEY, "mcp", "--model", "script:script.json"]
        server = StdioServerParameters(command=WHERE, args=order, cwd=KEY, env=dict(os.environ))
        return Client(server, mode=MODE, elicitation_callback=answer)
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {KEY}"}, timeout=60)
    return Client(streamable_http_client(WHERE, http_client=http), mode=MODE, elicitation_callback=answer)


async def call(answer, tool: str) -> tuple[str, bool]:
    async with connect(answer) as client:
        result = await client.call_tool(tool, {"message": "where?"})
        return "".join(block.text for block in result.content), bool(result.is_error)


async def main() -> None:
    said, is_error = await call(person, "keen")
    assert (said, is_error) == ("I was told Oslo", False), said
    assert len(asked) == 1 and "CITY" in asked[0].message and "keen" in asked[0].message, asked
    schema = asked[0].requested_schema
    assert schema["required"] == ["CITY"], schema
    assert schema["properties"]["CITY"]["description"] == "Which city", schema
    said, is_error = await call(refuser, "keen")
    assert is_error, said
    asked.clear()
    said, is_error = await call(person, "secretive")
    assert is_error and "subagent_env_required" in said and not asked, (said, asked)
    print("the person was asked")


asyncio.run(asyncio.wait_for(main(), 90))
