"""What the programs share: where calls and exports go, the tool, and the question.

STACK_LINES are the lines that `looptrace connect` prints for the client, STACK_STREAMED is 1 for streamed calls.
"""

import os

STREAMED = os.environ.get("STACK_STREAMED") == "1"

OPENAI_MODEL = "gpt-5-mini"
ANTHROPIC_MODEL = "claude-sonnet-4-5"
GEMINI_MODEL = "gemini-2.5-flash"

INSTRUCTIONS = "You repair code. Use the tool read_file."
QUESTION = "Why does the test fail?"
TEXTS = {
    "src/a.ts": "export const a = 1",
    "src/b.ts": "export const b = 2",
    "src/c.ts": "export const c = 3",
}
# Frameworks stop an agent after some steps; the longest case has 8.
STEPS_MAX = 15


def read_file(path: str) -> str:
    """Reads a file of the repository.

    Args:
        path: The path of the file.
    """
    return TEXTS.get(path, f"file not found: {path}")


SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string", "description": "The path of the file."}},
    "required": ["path"],
    "additionalProperties": False,
}


def connected(name):
    """Runs the lines of `looptrace connect`, and returns the value that they give this name."""
    values = {}
    exec(os.environ["STACK_LINES"], values)
    return values[name]


def tracing():
    """Sets up OpenTelemetry as its documentation says; the variables of OTEL_ name the endpoint."""
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    return provider
