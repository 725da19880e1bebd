"""Strands Agents with any of its models; its own spans. Those of Anthropic are always streamed."""

from stack import INSTRUCTIONS, QUESTION, STREAMED, connected, read_file, tracing
from strands import Agent, tool

spans = tracing()
model = connected("model")
if not STREAMED and hasattr(model, "streaming"):
    model.streaming = False
agent = Agent(name="repair", model=model, tools=[tool(read_file)], system_prompt=INSTRUCTIONS, callback_handler=None)
agent(QUESTION)
spans.shutdown()
