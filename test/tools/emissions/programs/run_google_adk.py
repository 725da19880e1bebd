"""Google ADK: generateContent; its own spans."""

import asyncio

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.runners import InMemoryRunner
from google.genai import types
from stack import INSTRUCTIONS, QUESTION, STREAMED, connected, read_file, tracing

spans = tracing()
agent = LlmAgent(name="repair", model=connected("model"), instruction=INSTRUCTIONS, tools=[read_file])


async def main():
    runner = InMemoryRunner(agent=agent, app_name="repair")
    session = await runner.session_service.create_session(app_name="repair", user_id="ada")
    message = types.Content(role="user", parts=[types.Part(text=QUESTION)])
    config = RunConfig(streaming_mode=StreamingMode.SSE if STREAMED else StreamingMode.NONE)
    run = runner.run_async(user_id="ada", session_id=session.id, new_message=message, run_config=config)
    async for _ in run:
        pass


asyncio.run(main())
spans.shutdown()
