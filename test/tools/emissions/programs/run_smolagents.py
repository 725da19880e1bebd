"""smolagents with OpenInference; results of tools come back as text of the user."""

from openinference.instrumentation.smolagents import SmolagentsInstrumentor
from smolagents import OpenAIServerModel, ToolCallingAgent, tool
from stack import HEADERS, INSTRUCTIONS, OPENAI_MODEL, PROVIDER_KEY, QUESTION, STEPS_MAX, STREAMED, URL, read_file, tracing

spans = tracing()
SmolagentsInstrumentor().instrument(tracer_provider=spans)
model = OpenAIServerModel(
    OPENAI_MODEL, api_base=f"{URL}/v1", api_key=PROVIDER_KEY, client_kwargs={"default_headers": HEADERS}
)
agent = ToolCallingAgent(
    tools=[tool(read_file)], model=model, instructions=INSTRUCTIONS, stream_outputs=STREAMED, max_steps=STEPS_MAX
)
agent.run(QUESTION)
spans.shutdown()
