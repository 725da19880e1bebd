"""Microsoft Agent Framework: Responses by default, chained by the id of the response; its own spans."""

import asyncio

from agent_framework import Agent
from agent_framework.observability import enable_instrumentation
from stack import INSTRUCTIONS, QUESTION, STREAMED, connected, read_file, tracing

spans = tracing()
enable_instrumentation(enable_sensitive_data=True)
agent = Agent(client=connected("client"), name="repair", instructions=INSTRUCTIONS, tools=[read_file])


async def main():
    if not STREAMED:
        await agent.run(QUESTION)
        return
    async for _ in agent.run(QUESTION, stream=True):
        pass


asyncio.run(main())
spans.shutdown()
