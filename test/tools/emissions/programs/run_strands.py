"""Strands Agents: `run_strands.py openai|anthropic`; its own spans."""

import sys

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
from strands import Agent, tool

spans = tracing()


def model():
    if sys.argv[1] == "openai":
        from strands.models.openai import OpenAIModel

        client = {"base_url": f"{URL}/v1", "api_key": PROVIDER_KEY, "default_headers": HEADERS}
        return OpenAIModel(client_args=client, model_id=OPENAI_MODEL, **({} if STREAMED else {"streaming": False}))
    from strands.models.anthropic import AnthropicModel

    client = {"base_url": URL, "api_key": PROVIDER_KEY, "default_headers": NAMED_HEADERS}
    return AnthropicModel(client_args=client, model_id=ANTHROPIC_MODEL, max_tokens=1000)


agent = Agent(name="repair", model=model(), tools=[tool(read_file)], system_prompt=INSTRUCTIONS, callback_handler=None)
agent(QUESTION)
spans.shutdown()
