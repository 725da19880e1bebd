"""LangChain's agent on LangGraph: `run_langchain.py openinference|openllmetry`."""

import sys

from langchain.agents import create_agent
from stack import INSTRUCTIONS, QUESTION, STREAMED, connected, read_file, tracing

spans = tracing()
if sys.argv[1] == "openinference":
    from openinference.instrumentation.langchain import LangChainInstrumentor
else:
    from opentelemetry.instrumentation.langchain import LangchainInstrumentor as LangChainInstrumentor
LangChainInstrumentor().instrument(tracer_provider=spans)

agent = create_agent(connected("model"), tools=[read_file], system_prompt=INSTRUCTIONS, name="repair")
asked = {"messages": [{"role": "user", "content": QUESTION}]}
if STREAMED:
    for _ in agent.stream(asked, stream_mode="messages"):
        pass
else:
    agent.invoke(asked)
spans.shutdown()
