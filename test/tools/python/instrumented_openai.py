"""Runs the openai package under an instrumentation: `instrumented_openai.py LIBRARY BASE_URL`.

LIBRARY is openinference, openllmetry or official, unmodified. OpenTelemetry's environment variables set
the endpoint and the key. It prints the trace id of each case as JSON.
"""

import contextlib
import json
import sys

from openai import APIStatusError, OpenAI
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

MODEL = "gpt-4.1-mini"
WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "Says how warm it is.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}


def main(library, base_url):
    spans = TracerProvider()
    spans.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(spans)
    logs = LoggerProvider()
    logs.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
    instrument(library, spans, logs)
    client = OpenAI(base_url=base_url, api_key="provider-key", max_retries=0)
    tracer = spans.get_tracer("instrumented-program")
    traces = {}
    for case in (plain, stream, tools, refused):
        with conversation(library), tracer.start_as_current_span(case.__name__) as root:
            traces[case.__name__] = format(root.get_span_context().trace_id, "032x")
            case(client)
    spans.shutdown()
    logs.shutdown()
    print(json.dumps(traces))


def instrument(library, spans, logs):
    if library == "openinference":
        from openinference.instrumentation.openai import OpenAIInstrumentor

        OpenAIInstrumentor().instrument(tracer_provider=spans)
    elif library == "openllmetry":
        from opentelemetry.instrumentation.openai import OpenAIInstrumentor

        OpenAIInstrumentor().instrument(tracer_provider=spans)
    else:
        from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor

        OpenAIInstrumentor().instrument(tracer_provider=spans, logger_provider=logs)


def conversation(library):
    if library != "openinference":
        return contextlib.nullcontext()
    from openinference.instrumentation import using_attributes

    return using_attributes(session_id="talk of openinference", user_id="ada")


def saying(content):
    return [{"role": "system", "content": "You track parcels."}, {"role": "user", "content": content}]


def ask(client, messages, **more):
    return client.chat.completions.create(model=MODEL, messages=messages, temperature=0.2, **more)


def plain(client):
    ask(client, saying("plain: where is parcel 7?"))


def stream(client):
    options = {"include_usage": True}
    for _ in ask(client, saying("stream: where is parcel 7?"), stream=True, stream_options=options):
        pass


def tools(client):
    messages = saying("tools: how warm is it?")
    message = ask(client, messages, tools=[WEATHER]).choices[0].message
    call = message.tool_calls[0]
    messages.append({"role": "assistant", "tool_calls": [call.to_dict()]})
    messages.append({"role": "tool", "tool_call_id": call.id, "content": '{"celsius":7}'})
    ask(client, messages, tools=[WEATHER])


def refused(client):
    with contextlib.suppress(APIStatusError):
        ask(client, saying("refused: at once"))


main(*sys.argv[1:])
