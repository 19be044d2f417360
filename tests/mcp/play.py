"""Plays a session with the MCP tools of comail, and prints what each of them returned as JSON.

usage: play.py COMAIL MODE   over the standard input and output of `comail mcp`
       play.py URL MODE      over HTTP

MODE is how the client begins, `auto` or `legacy`. The server and the token are in COMAIL_SERVER and
COMAIL_TOKEN.
"""

import asyncio
import json
import os
import sys
from contextlib import asynccontextmanager

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

SUBMIT = {"id": 1, "fields": {"quote": "pay 11"}}


@asynccontextmanager
async def connected(to: str, mode: str):
    if not to.startswith("http"):
        server = StdioServerParameters(command=to, args=["mcp"], env=dict(os.environ))
        async with Client(server, mode=mode) as client:
            yield client
        return
    headers = {"Authorization": f"Bearer {os.environ['COMAIL_TOKEN']}"}
    async with httpx2.AsyncClient(headers=headers) as http:
        transport = streamable_http_client(to, http_client=http)
        async with Client(transport, mode=mode) as client:
            yield client


async def call(client: Client, tool: str, arguments: dict):
    result = await client.call_tool(tool, arguments)
    return {"error": result.is_error, "returned": result.structured_content}


async def play(to: str, mode: str) -> dict:
    async with connected(to, mode) as client:
        tools = (await client.list_tools()).tools
        prompts = (await client.list_prompts()).prompts
        prompt = await client.get_prompt(prompts[0].name)
        return {
            "protocol": client.protocol_version,
            "instructions": client.instructions,
            "tools": {tool.name: tool.input_schema for tool in tools},
            "prompt": prompt.messages[0].content.text,
            "next": await call(client, "next", {}),
            "wrong": await call(client, "submit", SUBMIT),
            "misnamed": await call(client, "submit", {"id": 1, "fields": {"nosuch": "1"}}),
            "right": await call(client, "submit", SUBMIT | {"fields": {"quote": "pay 10"}}),
            "status": await call(client, "status", {}),
        }


print(json.dumps(asyncio.run(play(sys.argv[1], sys.argv[2]))))
