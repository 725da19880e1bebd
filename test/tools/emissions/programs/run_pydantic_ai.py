"""pydantic-ai: `run_pydantic_ai.py openai|anthropic|google`; its own spans."""

import asyncio
import sys

from pydantic_ai import Agent
from pydantic_ai.models.instrumented import InstrumentationSettings
from stack import (
    ANTHROPIC_MODEL,
    GEMINI_MODEL,
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


def model():
    if sys.argv[1] == "openai":
        from openai import AsyncOpenAI
        from pydantic_ai.models.openai import OpenAIResponsesModel
        from pydantic_ai.providers.openai import OpenAIProvider

        client = AsyncOpenAI(base_url=f"{URL}/v1", api_key=PROVIDER_KEY, default_headers=HEADERS)
        return OpenAIResponsesModel(OPENAI_MODEL, provider=OpenAIProvider(openai_client=client))
    if sys.argv[1] == "anthropic":
        from anthropic import AsyncAnthropic
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        client = AsyncAnthropic(base_url=URL, api_key=PROVIDER_KEY, default_headers=NAMED_HEADERS)
        return AnthropicModel(ANTHROPIC_MODEL, provider=AnthropicProvider(anthropic_client=client))
    from google import genai
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    options = {"base_url": URL, "headers": NAMED_HEADERS}
    client = genai.Client(api_key=PROVIDER_KEY, http_options=options)
    return GoogleModel(GEMINI_MODEL, provider=GoogleProvider(client=client))


Agent.instrument_all(InstrumentationSettings(tracer_provider=spans))
agent = Agent(model(), name="repair", instructions=INSTRUCTIONS, tools=[read_file])


async def main():
    if not STREAMED:
        await agent.run(QUESTION)
        return
    async with agent.run_stream(QUESTION) as answer:
        await answer.get_output()


asyncio.run(main())
spans.shutdown()
