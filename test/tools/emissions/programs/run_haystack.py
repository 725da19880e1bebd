"""Haystack: its agent, with OpenInference."""

from haystack.components.agents import Agent
from haystack.dataclasses import ChatMessage
from haystack.tools import create_tool_from_function
from openinference.instrumentation.haystack import HaystackInstrumentor
from stack import INSTRUCTIONS, QUESTION, STREAMED, connected, read_file, tracing

spans = tracing()
HaystackInstrumentor().instrument(tracer_provider=spans)
agent = Agent(
    chat_generator=connected("model"), tools=[create_tool_from_function(read_file)], system_prompt=INSTRUCTIONS
)
more = {"streaming_callback": lambda chunk: None} if STREAMED else {}
agent.run(messages=[ChatMessage.from_user(QUESTION)], **more)
spans.shutdown()
