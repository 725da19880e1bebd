"""OpenAI Agents SDK: Responses by default; OpenInference for traces."""

import asyncio

from agents import Agent, Runner, function_tool
from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor
from stack import INSTRUCTIONS, OPENAI_MODEL, QUESTION, STEPS_MAX, STREAMED, connected, read_file, tracing

spans = tracing()
OpenAIAgentsInstrumentor().instrument(tracer_provider=spans)
connected("client")
agent = Agent(name="repair", instructions=INSTRUCTIONS, model=OPENAI_MODEL, tools=[function_tool(read_file)])


async def main():
    if not STREAMED:
        await Runner.run(agent, QUESTION, max_turns=STEPS_MAX)
        return
    async for _ in Runner.run_streamed(agent, QUESTION, max_turns=STEPS_MAX).stream_events():
        pass


asyncio.run(main())
spans.shutdown()
