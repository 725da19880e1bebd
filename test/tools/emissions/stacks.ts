/** A program of one stack, and what it needs. */
export type Stack = {
  /** Name of the recording. */
  name: string
  language: 'python' | 'node'
  /** Packages in a folder of their own, shared by stacks with the same list. */
  packages: readonly string[]
  /** File in `programs`, and its arguments. */
  program: string
  args?: readonly string[]
  env?: Readonly<Record<string, string>>
}

const otel = ['opentelemetry-sdk', 'opentelemetry-exporter-otlp-proto-http']

const pydanticAi = ['pydantic-ai-slim[openai,anthropic,google,logfire]', ...otel]
const langchain = [
  ...['langchain', 'langchain-openai', 'langchain-anthropic', 'langgraph'],
  ...[
    'openinference-instrumentation-langchain',
    'opentelemetry-instrumentation-langchain',
    ...otel,
  ],
]
const strands = ['strands-agents[openai,anthropic,otel]', ...otel]
const googleAdk = ['google-adk', ...otel]
/** Without both, spans of Google ADK have no content. */
const contentInSpans = {
  OTEL_SEMCONV_STABILITY_OPT_IN: 'gen_ai_latest_experimental',
  OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'SPAN_ONLY',
}
const logfire = ['logfire', 'openai', 'anthropic', ...otel]
const openllmetry = [
  ...['openai', 'anthropic', 'opentelemetry-instrumentation-openai'],
  ...['opentelemetry-instrumentation-anthropic', ...otel],
]
const clients = [
  ...['openai', 'anthropic', 'google-genai', 'openinference-instrumentation-openai'],
  ...[
    'openinference-instrumentation-anthropic',
    'openinference-instrumentation-google-genai',
    ...otel,
  ],
]

/** The stacks that are recorded. To add one, write its program and add its row. */
export const stacks: readonly Stack[] = [
  python('openai-agents', [
    'openai-agents',
    'openinference-instrumentation-openai-agents',
    ...otel,
  ]),
  python('pydantic-ai-openai', pydanticAi, ['run_pydantic_ai.py', 'openai']),
  python('pydantic-ai-anthropic', pydanticAi, ['run_pydantic_ai.py', 'anthropic']),
  python('pydantic-ai-google', pydanticAi, ['run_pydantic_ai.py', 'google']),
  python('langchain-openai', langchain, ['run_langchain.py', 'openai', 'openinference']),
  python('langchain-anthropic', langchain, ['run_langchain.py', 'anthropic', 'openinference']),
  python('langchain-openllmetry', langchain, ['run_langchain.py', 'openai', 'openllmetry']),
  python('smolagents', ['smolagents[openai]', 'openinference-instrumentation-smolagents', ...otel]),
  python('litellm', ['litellm', ...otel]),
  python('strands-openai', strands, ['run_strands.py', 'openai']),
  python('strands-anthropic', strands, ['run_strands.py', 'anthropic']),
  python('agent-framework', ['agent-framework-core', 'agent-framework-openai', ...otel]),
  { ...python('google-adk', googleAdk), env: contentInSpans },
  python('google-adk-defaults', googleAdk, ['run_google_adk.py']),
  python('langfuse-openai', ['langfuse', 'openai'], ['run_langfuse.py']),
  python('logfire-openai', logfire, ['run_client.py', 'chat', 'logfire']),
  python('logfire-openai-responses', logfire, ['run_client.py', 'responses', 'logfire']),
  python('logfire-anthropic', logfire, ['run_client.py', 'messages', 'logfire']),
  python('openllmetry-openai', openllmetry, ['run_client.py', 'chat', 'openllmetry']),
  python('openllmetry-openai-responses', openllmetry, [
    'run_client.py',
    'responses',
    'openllmetry',
  ]),
  python('openllmetry-anthropic', openllmetry, ['run_client.py', 'messages', 'openllmetry']),
  python('openai-chat', clients, ['run_client.py', 'chat', 'openinference']),
  python('openai-responses', clients, ['run_client.py', 'responses', 'openinference']),
  python('anthropic', clients, ['run_client.py', 'messages', 'openinference']),
  python('google-genai', clients, ['run_client.py', 'generate_content', 'openinference']),
]

function python(
  name: string,
  packages: readonly string[],
  [program = `run_${name.replaceAll('-', '_')}.py`, ...args]: readonly string[] = [],
): Stack {
  return { name, language: 'python', packages, program, args }
}
