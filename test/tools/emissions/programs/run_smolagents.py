"""smolagents with OpenInference; results of tools come back as text of the user."""

from openinference.instrumentation.smolagents import SmolagentsInstrumentor
from smolagents import ToolCallingAgent, tool
from stack import INSTRUCTIONS, QUESTION, STEPS_MAX, STREAMED, connected, read_file, tracing

spans = tracing()
SmolagentsInstrumentor().instrument(tracer_provider=spans)
agent = ToolCallingAgent(
    tools=[tool(read_file)], model=connected("model"), instructions=INSTRUCTIONS, stream_outputs=STREAMED, max_steps=STEPS_MAX
)
agent.run(QUESTION)
spans.shutdown()
