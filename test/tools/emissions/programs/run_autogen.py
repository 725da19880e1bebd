"""AutoGen: an assistant that calls tools; its own spans."""

import asyncio

from autogen_agentchat.agents import AssistantAgent
from stack import INSTRUCTIONS, QUESTION, STEPS_MAX, STREAMED, connected, read_file, tracing

spans = tracing()
agent = AssistantAgent(
    "repair",
    model_client=connected("client"),
    tools=[read_file],
    system_message=INSTRUCTIONS,
    model_client_stream=STREAMED,
    max_tool_iterations=STEPS_MAX,
)


async def main():
    await agent.run(task=QUESTION)


asyncio.run(main())
spans.shutdown()
