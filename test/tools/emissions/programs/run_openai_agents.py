"""OpenAI Agents SDK: Responses by default; OpenInference for traces."""

import asyncio

from agents import Agent, Runner, function_tool, set_default_openai_client
from openai import AsyncOpenAI
from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor
from stack import HEADERS, INSTRUCTIONS, OPENAI_MODEL, PROVIDER_KEY, QUESTION, STEPS_MAX, STREAMED, URL, read_file, tracing

spans = tracing()
OpenAIAgentsInstrumentor().instrument(tracer_provider=spans)
client = AsyncOpenAI(base_url=f"{URL}/v1", api_key=PROVIDER_KEY, default_headers=HEADERS)
# Its own export to OpenAI stays off: the recording server is not OpenAI.
set_default_openai_client(client, use_for_tracing=False)
agent = Agent(name="repair", instructions=INSTRUCTIONS, model=OPENAI_MODEL, tools=[function_tool(read_file)])


async def main():
    if not STREAMED:
        await Runner.run(agent, QUESTION, max_turns=STEPS_MAX)
        return
    async for _ in Runner.run_streamed(agent, QUESTION, max_turns=STEPS_MAX).stream_events():
        pass


asyncio.run(main())
spans.shutdown()
