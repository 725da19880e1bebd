"""LiteLLM with its OpenTelemetry callback; the loop of the agent is our own."""

import json
import time

import litellm
from stack import INSTRUCTIONS, OPENAI_MODEL, QUESTION, SCHEMA, STREAMED, connected, read_file, tracing

spans = tracing()
litellm.callbacks = ["otel"]
tool = {"type": "function", "function": {"name": "read_file", "description": "Reads a file.", "parameters": SCHEMA}}
messages = [{"role": "system", "content": INSTRUCTIONS}, {"role": "user", "content": QUESTION}]


def ask():
    answer = litellm.completion(
        model=f"openai/{OPENAI_MODEL}",
        **connected("looptrace"),
        messages=messages,
        tools=[tool],
        stream=STREAMED,
        **({"stream_options": {"include_usage": True}} if STREAMED else {}),
    )
    whole = litellm.stream_chunk_builder(list(answer)) if STREAMED else answer
    return whole.choices[0].message


while (message := ask()).tool_calls:
    messages.append(message.model_dump(exclude_none=True))
    for call in message.tool_calls:
        result = read_file(**json.loads(call.function.arguments))
        messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
# Its callbacks run in a thread of their own, after the answer.
time.sleep(1)
spans.shutdown()
