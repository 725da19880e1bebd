/** A program of one stack, and what it needs. */
export type Stack = {
  /** Name of the recording. */
  name: string
  language: 'python' | 'node'
  /** The client of `looptrace connect` whose lines the program runs. */
  client: string
  /** Packages in a folder of their own, shared by stacks with the same list. */
  packages: readonly string[]
  /** File in `programs`, and its arguments. */
  program: string
  args?: readonly string[]
  env?: Readonly<Record<string, string>>
}

const otel = ['opentelemetry-sdk', 'opentelemetry-exporter-otlp-proto-http']

const openaiAgents = ['openai-agents', 'openinference-instrumentation-openai-agents', ...otel]
const smolagents = ['smolagents[openai]', 'openinference-instrumentation-smolagents', ...otel]
const agentFramework = ['agent-framework-core', 'agent-framework-openai', ...otel]
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
const llamaIndex = [
  ...['llama-index-core', 'llama-index-llms-openai'],
  ...['openinference-instrumentation-llama-index', ...otel],
]
const autogen = ['autogen-agentchat', 'autogen-ext[openai]', ...otel]
const haystack = ['haystack-ai', 'openinference-instrumentation-haystack', ...otel]
const googleAdk = ['google-adk', ...otel]
/** Without these, spans of Google ADK and LiteLLM have no content. */
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

const aiSdk = [
  ...['ai', '@ai-sdk/openai', '@ai-sdk/anthropic', '@ai-sdk/google', '@ai-sdk/otel'],
  ...['@opentelemetry/sdk-node', '@opentelemetry/exporter-trace-otlp-proto'],
]
const nodeClients = ['openai', '@anthropic-ai/sdk', '@google/genai']

/** The stacks that are recorded. To add one, write its program and add its row. */
export const stacks: readonly Stack[] = [
  python('openai-agents', 'openai-agents', openaiAgents, ['run_openai_agents.py']),
  python('pydantic-ai-openai', 'pydantic-ai', pydanticAi, ['run_pydantic_ai.py']),
  python('pydantic-ai-anthropic', 'pydantic-ai-anthropic', pydanticAi, ['run_pydantic_ai.py']),
  python('pydantic-ai-google', 'pydantic-ai-google', pydanticAi, ['run_pydantic_ai.py']),
  python('langchain-openai', 'langchain', langchain, ['run_langchain.py', 'openinference']),
  python('langchain-anthropic', 'langchain-anthropic', langchain, [
    ...['run_langchain.py', 'openinference'],
  ]),
  python('langchain-openllmetry', 'langchain', langchain, ['run_langchain.py', 'openllmetry']),
  python('smolagents', 'smolagents', smolagents, ['run_smolagents.py']),
  {
    ...python('litellm', 'litellm', ['litellm', ...otel], ['run_litellm.py']),
    env: contentInSpans,
  },
  python('strands-openai', 'strands', strands, ['run_strands.py']),
  python('strands-anthropic', 'strands-anthropic', strands, ['run_strands.py']),
  python('agent-framework', 'agent-framework', agentFramework, ['run_agent_framework.py']),
  { ...python('google-adk', 'google-adk', googleAdk, ['run_google_adk.py']), env: contentInSpans },
  python('google-adk-defaults', 'google-adk', googleAdk, ['run_google_adk.py']),
  python('langfuse-openai', 'openai-python', ['langfuse', 'openai'], ['run_langfuse.py']),
  python('logfire-openai', 'openai-python', logfire, ['run_client.py', 'chat', 'logfire']),
  python('logfire-openai-responses', 'openai-python', logfire, [
    ...['run_client.py', 'responses', 'logfire'],
  ]),
  python('logfire-anthropic', 'anthropic-python', logfire, [
    ...['run_client.py', 'messages', 'logfire'],
  ]),
  python('openllmetry-openai', 'openai-python', openllmetry, [
    ...['run_client.py', 'chat', 'openllmetry'],
  ]),
  python('openllmetry-openai-responses', 'openai-python', openllmetry, [
    ...['run_client.py', 'responses', 'openllmetry'],
  ]),
  python('openllmetry-anthropic', 'anthropic-python', openllmetry, [
    ...['run_client.py', 'messages', 'openllmetry'],
  ]),
  python('openai-chat', 'openai-python', clients, ['run_client.py', 'chat', 'openinference']),
  python('openai-responses', 'openai-python', clients, [
    ...['run_client.py', 'responses', 'openinference'],
  ]),
  python('anthropic', 'anthropic-python', clients, ['run_client.py', 'messages', 'openinference']),
  python('google-genai', 'google-genai-python', clients, [
    ...['run_client.py', 'generate_content', 'openinference'],
  ]),
  python('llama-index', 'llama-index', llamaIndex, ['run_llama_index.py']),
  python('autogen', 'autogen', autogen, ['run_autogen.py']),
  python('haystack', 'haystack', haystack, ['run_haystack.py']),
  node('ai-sdk-openai', 'ai-sdk', aiSdk, ['run-ai-sdk.mjs', 'openai']),
  node('ai-sdk-anthropic', 'ai-sdk-anthropic', aiSdk, ['run-ai-sdk.mjs', 'anthropic']),
  node('ai-sdk-google', 'ai-sdk-google', aiSdk, ['run-ai-sdk.mjs', 'google']),
  node('openai-node-chat', 'openai-node', nodeClients, ['run-client.mjs', 'chat']),
  node('openai-node-responses', 'openai-node', nodeClients, ['run-client.mjs', 'responses']),
  node('anthropic-node', 'anthropic-node', nodeClients, ['run-client.mjs', 'messages']),
  node('google-genai-node', 'google-genai-node', nodeClients, [
    ...['run-client.mjs', 'generate_content'],
  ]),
]

function node(name: string, ...rest: StackParts): Stack {
  return { ...python(name, ...rest), language: 'node' }
}

type StackParts = [client: string, packages: readonly string[], program: readonly string[]]

function python(name: string, ...[client, packages, [program = '', ...args]]: StackParts): Stack {
  return { name, language: 'python', client, packages, program, args }
}
