"""LlamaIndex: an agent that calls functions, with OpenInference."""

import asyncio

from llama_index.core.agent.workflow import FunctionAgent
from openinference.instrumentation.llama_index import LlamaIndexInstrumentor
from stack import INSTRUCTIONS, QUESTION, STREAMED, connected, read_file, tracing

spans = tracing()
LlamaIndexInstrumentor().instrument(tracer_provider=spans)
agent = FunctionAgent(
    name="repair", tools=[read_file], llm=connected("model"), system_prompt=INSTRUCTIONS, streaming=STREAMED
)


async def main():
    await agent.run(QUESTION)


asyncio.run(main())
spans.shutdown()
