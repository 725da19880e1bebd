"""pydantic-ai with any of its models; its own spans."""

import asyncio

from pydantic_ai import Agent
from pydantic_ai.models.instrumented import InstrumentationSettings
from stack import INSTRUCTIONS, QUESTION, STREAMED, connected, read_file, tracing

spans = tracing()


Agent.instrument_all(InstrumentationSettings(tracer_provider=spans))
agent = Agent(connected("model"), name="repair", instructions=INSTRUCTIONS, tools=[read_file])


async def main():
    if not STREAMED:
        await agent.run(QUESTION)
        return
    async with agent.run_stream(QUESTION) as answer:
        await answer.get_output()


asyncio.run(main())
spans.shutdown()
