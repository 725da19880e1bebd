"""Uses the openai package like its users, at the provider itself and through the service.

Reads {"direct": {...}, "proxied": {...}} from its argument: for each side `base_url`, and `headers`
to send. Writes one JSON object: the results of each case from either side.
"""

import asyncio
import json
import sys

import openai

MODEL = "gpt-4.1-mini"
LOOK_UP = {
    "type": "function",
    "function": {
        "name": "look_up_order",
        "description": "Looks an order up.",
        "parameters": {"type": "object", "properties": {"order": {"type": "integer"}}},
    },
}


def saying(name, **more):
    """A request that gets the answer of a case of the script."""
    messages = [
        {"role": "system", "content": "You track parcels."},
        {"role": "user", "content": f"{name}: where is parcel 7?"},
    ]
    if name == "tools":
        more = {"tools": [LOOK_UP], "parallel_tool_calls": True, **more}
    return {"model": MODEL, "messages": messages, **more}


def answer(name, **more):
    return lambda client: client.chat.completions.create(**saying(name, **more)).model_dump()


def stream(name, chunks_max=None, **more):
    return lambda client: heard(
        lambda: client.chat.completions.create(**saying(name, stream=True, **more)), chunks_max
    )


def failure(name, **options):
    def run(client):
        try:
            return client.with_options(**options).chat.completions.create(**saying(name))
        except openai.APIError as error:
            return {"error": described(error)}

    return run


def heard(opening, chunks_max=None):
    """The chunks of a stream, and its error if it failed."""
    chunks = []
    try:
        with opening() as events:
            for chunk in events:
                chunks.append(chunk.model_dump())
                if len(chunks) == chunks_max:
                    break
    except Exception as error:
        return {"chunks": chunks, "error": described(error)}
    return {"chunks": chunks}


def described(error):
    shown = {"class": type(error).__name__, "message": str(error)}
    for field in ("status_code", "code", "param", "type", "body", "request_id"):
        shown[field] = getattr(error, field, None)
    return shown


def stream_helper(client):
    with client.chat.completions.stream(**saying("long")) as events:
        kinds = [event.type for event in events]
        return {"kinds": kinds, "final": events.get_final_completion().model_dump()}


def streaming_response(client):
    calls = client.chat.completions.with_streaming_response
    with calls.create(**saying("long", stream=True)) as response:
        return {"status": response.status_code, "lines": list(response.iter_lines())}


def legacy(client):
    return client.completions.create(model=MODEL, prompt="plain: and then", n=2).model_dump()


def legacy_stream(client):
    request = {"model": MODEL, "prompt": "long: and then", "stream": True}
    return heard(lambda: client.completions.create(**request))


def tool_loop(client):
    request = saying("tools")
    asked = client.chat.completions.create(**request).choices[0].message
    results = [
        {"role": "tool", "tool_call_id": call.id, "content": "In Basel."}
        for call in asked.tool_calls
    ]
    request["messages"] += [asked.model_dump(exclude_none=True), *results]
    return client.chat.completions.create(**request).model_dump()


async def async_answers(client):
    """Several concurrent requests over one client, in the order of the requests."""
    names = ["plain", "zipped", "several"]
    calls = [client.chat.completions.create(**saying(name)) for name in names]
    return [answer.model_dump() for answer in await asyncio.gather(*calls)]


async def async_stream(client):
    events = await client.chat.completions.create(**saying("long", stream=True))
    return [chunk.model_dump() async for chunk in events]


async def async_stream_helper(client):
    async with client.chat.completions.stream(**saying("tools")) as events:
        kinds = [event.type async for event in events]
        return {"kinds": kinds, "final": (await events.get_final_completion()).model_dump()}


CASES = {
    "answer": answer("plain"),
    "zipped answer": answer("zipped"),
    "refusal": answer("refused"),
    "several choices": answer("several", n=2),
    "tools": answer("tools"),
    "tool loop": tool_loop,
    "stream": stream("plain"),
    "stream with usage": stream("plain", stream_options={"include_usage": True}),
    "long stream": stream("long"),
    "stream of several choices": stream("several", n=2),
    "stream of tools": stream("tools"),
    "stream helper": stream_helper,
    "streaming response": streaming_response,
    "left stream": stream("slow", chunks_max=3),
    "error event": stream("error event"),
    "error data": stream("error data"),
    "error chunk": stream("error chunk"),
    "cut stream": stream("cut"),
    "legacy": legacy,
    "legacy stream": legacy_stream,
    "status 400": failure("status 400"),
    "status 401": failure("status 401"),
    "status 404": failure("status 404"),
    "status 429": failure("status 429"),
    "status 500": failure("status 500"),
    "status 503": failure("status 503"),
    "time-out": failure("silent", timeout=0.5),
}

ASYNC_CASES = {
    "async answers": async_answers,
    "async stream": async_stream,
    "async stream helper": async_stream_helper,
}


def options_of(side, task_id):
    return {
        "base_url": side["base_url"],
        "api_key": "provider-key",
        "default_headers": {
            **side["headers"],
            "X-Task-ID": task_id,
            "X-Conversation-ID": f"talk of {task_id}",
        },
        "max_retries": 0,
    }


def run_case(run, side, task_id):
    with openai.OpenAI(**options_of(side, task_id)) as client:
        return run(client)


async def run_async_case(run, side, task_id):
    async with openai.AsyncOpenAI(**options_of(side, task_id)) as client:
        return await run(client)


def raw_headers(side):
    """The headers of an answer, of a stream and of an error, as `with_raw_response` shows them."""
    with openai.OpenAI(**options_of(side, "python raw")) as client:
        raw = client.chat.completions.with_raw_response
        whole = raw.create(**saying("plain"))
        streamed = raw.create(**saying("plain", stream=True))
        list(streamed.parse())
        try:
            raw.create(**saying("status 400"))
        except openai.BadRequestError as error:
            refused = error.response
        return [dict(response.headers) for response in (whole, streamed, refused)]


def main(sides):
    cases = {}
    for name, run in CASES.items():
        cases[name] = {side: run_case(run, of, f"python {name}") for side, of in sides.items()}
    for name, run in ASYNC_CASES.items():
        cases[name] = {
            side: asyncio.run(run_async_case(run, of, f"python {name}"))
            for side, of in sides.items()
        }
    headers = {side: raw_headers(of) for side, of in sides.items()}
    json.dump({"version": openai.__version__, "cases": cases, "headers": headers}, sys.stdout)


main(json.loads(sys.argv[1]))
