"""Langfuse's drop-in for the openai package, with a loop of our own below one observed function."""

import json

from langfuse import get_client, observe
import langfuse.openai  # noqa: F401, wraps the openai package
from stack import INSTRUCTIONS, OPENAI_MODEL, QUESTION, SCHEMA, STREAMED, connected, read_file

client = connected("client")
tool = {"type": "function", "function": {"name": "read_file", "description": "Reads a file.", "parameters": SCHEMA}}
read = observe(name="read_file", as_type="tool")(read_file)


def ask(messages):
    if not STREAMED:
        return client.chat.completions.create(model=OPENAI_MODEL, messages=messages, tools=[tool]).choices[0].message.to_dict()
    options = {"include_usage": True}
    chunks = client.chat.completions.create(
        model=OPENAI_MODEL, messages=messages, tools=[tool], stream=True, stream_options=options
    )
    message = {"role": "assistant", "content": None}
    for chunk in chunks:
        delta = chunk.choices[0].delta if chunk.choices else None
        if delta and delta.content:
            message["content"] = (message["content"] or "") + delta.content
        for part in (delta and delta.tool_calls) or []:
            if part.id:
                message["tool_calls"] = [{"id": part.id, "type": "function", "function": {"name": part.function.name, "arguments": ""}}]
            message["tool_calls"][-1]["function"]["arguments"] += part.function.arguments or ""
    return message


@observe(name="repair", as_type="agent")
def repair(question):
    messages = [{"role": "system", "content": INSTRUCTIONS}, {"role": "user", "content": question}]
    while (message := ask(messages)).get("tool_calls"):
        messages.append(message)
        for call in message["tool_calls"]:
            result = read(**json.loads(call["function"]["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
    return message["content"]


repair(QUESTION)
get_client().shutdown()
