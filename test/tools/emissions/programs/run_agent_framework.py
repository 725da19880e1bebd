"""Microsoft Agent Framework: Responses by default, chained by the id of the response; its own spans."""

import asyncio

from agent_framework import Agent
from agent_framework.observability import enable_instrumentation
from agent_framework.openai import OpenAIChatClient
from stack import HEADERS, INSTRUCTIONS, OPENAI_MODEL, PROVIDER_KEY, QUESTION, STREAMED, URL, read_file, tracing

spans = tracing()
enable_instrumentation(enable_sensitive_data=True)
chat = OpenAIChatClient(model=OPENAI_MODEL, base_url=f"{URL}/v1", api_key=PROVIDER_KEY, default_headers=HEADERS)
agent = Agent(client=chat, name="repair", instructions=INSTRUCTIONS, tools=[read_file])


async def main():
    if not STREAMED:
        await agent.run(QUESTION)
        return
    async for _ in agent.run(QUESTION, stream=True):
        pass


asyncio.run(main())
spans.shutdown()
