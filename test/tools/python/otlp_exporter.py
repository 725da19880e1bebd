"""Exports one agent run with an exporter of OpenTelemetry: `otlp_exporter.py grpc|http ENDPOINT KEY TASK`.

The exporter is unmodified and gets only the endpoint and the key. It prints the trace id.
"""

import sys

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind


def main(transport, endpoint, key, task):
    provider = TracerProvider(resource=Resource.create({"service.name": "py-shop", "service.version": "1.2.3"}))
    provider.add_span_processor(BatchSpanProcessor(exporter(transport, endpoint, key)))
    tracer = provider.get_tracer("py-test")
    with tracer.start_as_current_span(
        "invoke_agent buyer",
        attributes={"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "buyer", "looptrace.task.id": task},
    ) as root:
        with tracer.start_as_current_span(
            "chat gpt-4.1-mini",
            kind=SpanKind.CLIENT,
            attributes={
                "gen_ai.operation.name": "chat",
                "gen_ai.provider.name": "openai",
                "gen_ai.request.model": "gpt-4.1-mini",
                "gen_ai.response.model": "gpt-4.1-mini-2025-04-14",
                "gen_ai.usage.input_tokens": 120,
                "gen_ai.usage.output_tokens": 30,
                "gen_ai.response.finish_reasons": ["stop"],
                "gen_ai.input.messages": '[{"role":"user","parts":[{"type":"text","content":"hello"}]}]',
            },
        ) as chat:
            chat.add_event("first token", {"after_ms": 12})
        with tracer.start_as_current_span(
            "execute_tool weather",
            attributes={"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "weather"},
        ) as tool:
            tool.record_exception(ValueError("no such city"))
    provider.shutdown()
    print(format(root.get_span_context().trace_id, "032x"))


def exporter(transport, endpoint, key):
    if transport == "grpc":
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter

        return OTLPSpanExporter(endpoint=endpoint, insecure=True, headers={"authorization": f"Bearer {key}"})
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter(endpoint=f"{endpoint}/v1/traces", headers={"X-API-Key": key})


main(*sys.argv[1:])
