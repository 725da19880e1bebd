"""LangChain's agent on LangGraph: `run_langchain.py openai|anthropic openinference|openllmetry`."""

import sys

from langchain.agents import create_agent
from stack import (
    ANTHROPIC_MODEL,
    HEADERS,
    INSTRUCTIONS,
    NAMED_HEADERS,
    OPENAI_MODEL,
    PROVIDER_KEY,
    QUESTION,
    STREAMED,
    URL,
    read_file,
    tracing,
)

spans = tracing()
if sys.argv[2] == "openinference":
    from openinference.instrumentation.langchain import LangChainInstrumentor
else:
    from opentelemetry.instrumentation.langchain import LangchainInstrumentor as LangChainInstrumentor
LangChainInstrumentor().instrument(tracer_provider=spans)


def model():
    if sys.argv[1] == "openai":
        from langchain_openai import ChatOpenAI

        return ChatOpenAI(model=OPENAI_MODEL, base_url=f"{URL}/v1", api_key=PROVIDER_KEY, default_headers=HEADERS)
    from langchain_anthropic import ChatAnthropic

    return ChatAnthropic(model=ANTHROPIC_MODEL, base_url=URL, api_key=PROVIDER_KEY, default_headers=NAMED_HEADERS)


agent = create_agent(model(), tools=[read_file], system_prompt=INSTRUCTIONS, name="repair")
asked = {"messages": [{"role": "user", "content": QUESTION}]}
if STREAMED:
    for _ in agent.stream(asked, stream_mode="messages"):
        pass
else:
    agent.invoke(asked)
spans.shutdown()
