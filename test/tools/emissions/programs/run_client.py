"""A vendor's client with a loop of our own: `run_client.py chat|responses|messages|generate_content TRACES`.

TRACES is openinference, openllmetry or logfire.
"""

import json
import sys

from stack import ANTHROPIC_MODEL, GEMINI_MODEL, INSTRUCTIONS, OPENAI_MODEL, QUESTION, SCHEMA, STREAMED, connected, read_file, tracing

FORMAT, TRACES = sys.argv[1:]


def start():
    """Returns a function that opens the span of the agent, and one that ends the export."""
    if TRACES == "logfire":
        import logfire

        logfire.configure(send_to_logfire=False, console=False)
        {"messages": logfire.instrument_anthropic}.get(FORMAT, logfire.instrument_openai)()
        return lambda: logfire.span("repair"), logfire.shutdown
    spans = tracing()
    instrumentor().instrument(tracer_provider=spans)
    return lambda: spans.get_tracer("repair").start_as_current_span("repair"), spans.shutdown


def instrumentor():
    if TRACES == "openllmetry":
        from importlib import import_module

        package, name = ("anthropic", "Anthropic") if FORMAT == "messages" else ("openai", "OpenAI")
        return getattr(import_module(f"opentelemetry.instrumentation.{package}"), f"{name}Instrumentor")()
    if FORMAT == "messages":
        from openinference.instrumentation.anthropic import AnthropicInstrumentor

        return AnthropicInstrumentor()
    if FORMAT == "generate_content":
        from openinference.instrumentation.google_genai import GoogleGenAIInstrumentor

        return GoogleGenAIInstrumentor()
    from openinference.instrumentation.openai import OpenAIInstrumentor

    return OpenAIInstrumentor()


def chat():
    client = connected("client")
    function = {"name": "read_file", "description": "Reads a file.", "parameters": SCHEMA}
    messages = [{"role": "system", "content": INSTRUCTIONS}, {"role": "user", "content": QUESTION}]

    def ask():
        about = {"model": OPENAI_MODEL, "messages": messages, "tools": [{"type": "function", "function": function}]}
        if not STREAMED:
            return client.chat.completions.create(**about).choices[0].message
        with client.chat.completions.stream(**about, stream_options={"include_usage": True}) as stream:
            return stream.get_final_completion().choices[0].message

    while (message := ask()).tool_calls:
        messages.append(message.to_dict(exclude_unset=True))
        for call in message.tool_calls:
            result = read_file(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


def responses():
    client = connected("client")
    tool = {"type": "function", "name": "read_file", "description": "Reads a file.", "parameters": SCHEMA, "strict": True}
    items = [{"role": "user", "content": QUESTION}]

    def ask():
        about = {"model": OPENAI_MODEL, "instructions": INSTRUCTIONS, "input": items, "tools": [tool]}
        if not STREAMED:
            return client.responses.create(**about).output
        with client.responses.stream(**about) as stream:
            return stream.get_final_response().output

    calls = True
    while calls:
        output = ask()
        calls = [item for item in output if item.type == "function_call"]
        # What the client parsed of an answer is not accepted back.
        items.extend({name: value for name, value in item.to_dict().items() if name != "parsed_arguments"} for item in output)
        for call in calls:
            result = read_file(**json.loads(call.arguments))
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": result})


def messages():
    client = connected("client")
    tool = {"name": "read_file", "description": "Reads a file.", "input_schema": SCHEMA}
    turns = [{"role": "user", "content": QUESTION}]

    def ask():
        about = {
            "model": ANTHROPIC_MODEL,
            "max_tokens": 1000,
            "system": INSTRUCTIONS,
            "messages": turns,
            "tools": [tool],
        }
        if not STREAMED:
            return client.messages.create(**about).content
        with client.messages.stream(**about) as stream:
            return stream.get_final_message().content

    calls = True
    while calls:
        content = ask()
        calls = [block for block in content if block.type == "tool_use"]
        turns.append({"role": "assistant", "content": [block.to_dict() for block in content]})
        results = [
            {"type": "tool_result", "tool_use_id": call.id, "content": read_file(**call.input)} for call in calls
        ]
        turns.append({"role": "user", "content": results})


def generate_content():
    from google.genai import types

    client = connected("client")
    function = {"name": "read_file", "description": "Reads a file.", "parameters_json_schema": SCHEMA}
    config = types.GenerateContentConfig(
        system_instruction=INSTRUCTIONS, tools=[types.Tool(function_declarations=[function])]
    )
    contents = [types.Content(role="user", parts=[types.Part(text=QUESTION)])]

    def ask():
        about = {"model": GEMINI_MODEL, "contents": contents, "config": config}
        if not STREAMED:
            return client.models.generate_content(**about).candidates[0].content
        return [chunk.candidates[0].content for chunk in client.models.generate_content_stream(**about)][-1]

    calls = True
    while calls:
        content = ask()
        calls = [part.function_call for part in content.parts if part.function_call]
        contents.append(content)
        parts = [
            types.Part.from_function_response(name=call.name, response={"result": read_file(**call.args)})
            for call in calls
        ]
        contents.append(types.Content(role="user", parts=parts))


span, finish = start()
with span():
    globals()[FORMAT]()
finish()
