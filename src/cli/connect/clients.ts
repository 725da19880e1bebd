/** The languages of lines, which write a variable of the environment each in its own way. */
export type Language = 'python' | 'node' | 'shell' | 'toml'

/** A client that can be pointed at Looptrace. */
export type Client = {
  /** Argument of `looptrace connect`. */
  name: string
  /** Name in texts: `openai (Python)`. */
  title: string
  /** The API that its default call uses, or how it sends spans. */
  calls: string
  language: Language
  /** The part of its base URL after the URL of Looptrace; null for a client that only sends spans. */
  base: '' | '/v1' | '/v1beta' | null
  /** Where the project key goes: a header, or another place in words. */
  key_in: string
  /** The file or place for the lines. */
  place: string
  /**
   * The lines; `<url>` is the URL of Looptrace, `<key>` the project key, or the variable that holds it.
   */
  lines: readonly string[]
  /** Lines that hold the key itself, for a file that writes a variable in another way. */
  lines_with_key?: readonly string[]
}

const program = 'your program, in place of its client'
const shell = 'the shell in which you start it'
const headers = '{"X-API-Key": <key>}'
const named = '{"X-Looptrace-Key": <key>}'
const asOpenai = `base_url="<url>/v1", default_headers=${headers}`
const asAnthropic = `base_url="<url>", default_headers=${named}`
const asGoogle = `http_options={"base_url": "<url>", "headers": ${named}}`

type Given = Partial<Client> & Pick<Client, 'name' | 'title' | 'calls' | 'lines'>

function python(given: Given): Client {
  return {
    ...{ language: 'python', base: '/v1', key_in: 'X-API-Key', place: program },
    ...given,
    lines: ['import os', ...given.lines],
  }
}

function node(given: Given): Client {
  return { language: 'node', base: '/v1', key_in: 'X-API-Key', place: program, ...given }
}

/** The base URL and header of clients whose own key is in a header that is ours elsewhere. */
const beside = { base: '', key_in: 'X-Looptrace-Key' } as const

const pythonClients: readonly Client[] = [
  python({
    ...{ name: 'openai-python', title: 'openai (Python)', calls: 'Responses, chat completions' },
    lines: ['from openai import OpenAI', '', `client = OpenAI(${asOpenai})`],
  }),
  python({
    ...{ name: 'anthropic-python', title: 'anthropic (Python)', calls: 'Messages', ...beside },
    lines: ['from anthropic import Anthropic', '', `client = Anthropic(${asAnthropic})`],
  }),
  python({
    ...{ name: 'google-genai-python', title: 'google-genai (Python)', ...beside },
    calls: 'generateContent',
    lines: ['from google import genai', '', `client = genai.Client(${asGoogle})`],
  }),
  python({
    ...{ name: 'openai-agents', title: 'OpenAI Agents SDK', calls: 'Responses' },
    lines: [
      'from agents import set_default_openai_client',
      'from openai import AsyncOpenAI',
      '',
      `client = AsyncOpenAI(${asOpenai})`,
      'set_default_openai_client(client, use_for_tracing=False)',
    ],
  }),
  python({
    ...{ name: 'pydantic-ai', title: 'pydantic-ai, OpenAI', calls: 'Responses' },
    lines: [
      'from openai import AsyncOpenAI',
      'from pydantic_ai.models.openai import OpenAIResponsesModel',
      'from pydantic_ai.providers.openai import OpenAIProvider',
      '',
      `client = AsyncOpenAI(${asOpenai})`,
      'model = OpenAIResponsesModel("gpt-5-mini", provider=OpenAIProvider(openai_client=client))',
    ],
  }),
  python({
    ...{ name: 'pydantic-ai-anthropic', title: 'pydantic-ai, Anthropic', ...beside },
    calls: 'Messages',
    lines: [
      'from anthropic import AsyncAnthropic',
      'from pydantic_ai.models.anthropic import AnthropicModel',
      'from pydantic_ai.providers.anthropic import AnthropicProvider',
      '',
      `client = AsyncAnthropic(${asAnthropic})`,
      'model = AnthropicModel("claude-sonnet-4-5", provider=AnthropicProvider(anthropic_client=client))',
    ],
  }),
  python({
    ...{ name: 'pydantic-ai-google', title: 'pydantic-ai, Google', ...beside },
    calls: 'generateContent',
    lines: [
      'from google import genai',
      'from pydantic_ai.models.google import GoogleModel',
      'from pydantic_ai.providers.google import GoogleProvider',
      '',
      `client = genai.Client(${asGoogle})`,
      'model = GoogleModel("gemini-2.5-flash", provider=GoogleProvider(client=client))',
    ],
  }),
  python({
    ...{ name: 'langchain', title: 'LangChain and LangGraph, OpenAI', calls: 'chat completions' },
    lines: [
      'from langchain_openai import ChatOpenAI',
      '',
      // With a base URL of its own it asks for no usage, so that spans of streams would have none.
      `model = ChatOpenAI(model="gpt-5-mini", stream_usage=True, ${asOpenai})`,
    ],
  }),
  python({
    ...{ name: 'langchain-anthropic', title: 'LangChain and LangGraph, Anthropic', ...beside },
    calls: 'Messages',
    lines: [
      'from langchain_anthropic import ChatAnthropic',
      '',
      `model = ChatAnthropic(model="claude-sonnet-4-5", ${asAnthropic})`,
    ],
  }),
  python({
    ...{ name: 'litellm', title: 'LiteLLM', calls: 'chat completions' },
    place: 'your program: `litellm.completion(…, **looptrace)`',
    lines: ['', `looptrace = {"api_base": "<url>/v1", "extra_headers": ${headers}}`],
  }),
  python({
    ...{ name: 'strands', title: 'Strands Agents, OpenAI', calls: 'chat completions' },
    lines: [
      'from strands.models.openai import OpenAIModel',
      '',
      `client = {"base_url": "<url>/v1", "default_headers": ${headers}}`,
      'model = OpenAIModel(client_args=client, model_id="gpt-5-mini")',
    ],
  }),
  python({
    ...{ name: 'strands-anthropic', title: 'Strands Agents, Anthropic', ...beside },
    calls: 'Messages',
    lines: [
      'from strands.models.anthropic import AnthropicModel',
      '',
      `client = {"base_url": "<url>", "default_headers": ${named}}`,
      'model = AnthropicModel(client_args=client, model_id="claude-sonnet-4-5", max_tokens=4000)',
    ],
  }),
  python({
    ...{ name: 'smolagents', title: 'smolagents', calls: 'chat completions' },
    lines: [
      'from smolagents import OpenAIServerModel',
      '',
      'model = OpenAIServerModel(',
      '    "gpt-5-mini",',
      '    api_base="<url>/v1",',
      '    api_key=os.environ["OPENAI_API_KEY"],',
      `    client_kwargs={"default_headers": ${headers}},`,
      ')',
    ],
  }),
  python({
    ...{ name: 'agent-framework', title: 'Microsoft Agent Framework', calls: 'Responses' },
    lines: [
      'from agent_framework.openai import OpenAIChatClient',
      '',
      `client = OpenAIChatClient(model="gpt-5-mini", ${asOpenai})`,
    ],
  }),
  python({
    ...{ name: 'llama-index', title: 'LlamaIndex', calls: 'chat completions' },
    lines: [
      'from llama_index.llms.openai import OpenAI',
      '',
      `model = OpenAI(model="gpt-5-mini", api_base="<url>/v1", default_headers=${headers})`,
    ],
  }),
  python({
    ...{ name: 'autogen', title: 'AutoGen', calls: 'chat completions' },
    lines: [
      'from autogen_ext.models.openai import OpenAIChatCompletionClient',
      '',
      `client = OpenAIChatCompletionClient(model="gpt-5-mini", ${asOpenai})`,
    ],
  }),
  python({
    ...{ name: 'haystack', title: 'Haystack', calls: 'chat completions' },
    lines: [
      'from haystack.components.generators.chat import OpenAIChatGenerator',
      '',
      `options = {"headers": ${headers}}`,
      'model = OpenAIChatGenerator(',
      '    model="gpt-5-mini", api_base_url="<url>/v1", http_client_kwargs=options',
      ')',
    ],
  }),
  python({
    ...{ name: 'google-adk', title: 'Google ADK', calls: 'generateContent', ...beside },
    lines: [
      'from google.adk.models import Gemini',
      '',
      `options = {"base_url": "<url>", "headers": ${named}}`,
      'model = Gemini(model="gemini-2.5-flash", client_kwargs={"http_options": options})',
    ],
  }),
]

const nodeClients: readonly Client[] = [
  node({
    ...{ name: 'openai-node', title: 'openai (Node)', calls: 'Responses, chat completions' },
    lines: [
      "import OpenAI from 'openai'",
      '',
      "const client = new OpenAI({ baseURL: '<url>/v1', defaultHeaders: { 'X-API-Key': <key> } })",
    ],
  }),
  node({
    ...{ name: 'anthropic-node', title: '@anthropic-ai/sdk (Node)', calls: 'Messages', ...beside },
    lines: [
      "import Anthropic from '@anthropic-ai/sdk'",
      '',
      "const client = new Anthropic({ baseURL: '<url>', defaultHeaders: { 'X-Looptrace-Key': <key> } })",
    ],
  }),
  node({
    ...{ name: 'google-genai-node', title: '@google/genai (Node)', ...beside },
    calls: 'generateContent',
    lines: [
      "import { GoogleGenAI } from '@google/genai'",
      '',
      'const client = new GoogleGenAI({',
      '  apiKey: process.env.GEMINI_API_KEY,',
      "  httpOptions: { baseUrl: '<url>', headers: { 'X-Looptrace-Key': <key> } },",
      '})',
    ],
  }),
  node({
    ...{ name: 'ai-sdk', title: 'AI SDK, OpenAI', calls: 'Responses' },
    lines: [
      "import { createOpenAI } from '@ai-sdk/openai'",
      '',
      "const openai = createOpenAI({ baseURL: '<url>/v1', headers: { 'X-API-Key': <key> } })",
    ],
  }),
  node({
    ...{ name: 'ai-sdk-anthropic', title: 'AI SDK, Anthropic', calls: 'Messages' },
    key_in: 'X-Looptrace-Key',
    lines: [
      "import { createAnthropic } from '@ai-sdk/anthropic'",
      '',
      "const anthropic = createAnthropic({ baseURL: '<url>/v1', headers: { 'X-Looptrace-Key': <key> } })",
    ],
  }),
  node({
    ...{ name: 'ai-sdk-google', title: 'AI SDK, Google', calls: 'generateContent' },
    ...{ base: '/v1beta', key_in: 'X-Looptrace-Key' },
    lines: [
      "import { createGoogleGenerativeAI } from '@ai-sdk/google'",
      '',
      "const google = createGoogleGenerativeAI({ baseURL: '<url>/v1beta', headers: { 'X-Looptrace-Key': <key> } })",
    ],
  }),
]

const codexHead = [
  'model_provider = "looptrace"',
  '',
  '[model_providers.looptrace]',
  'name = "OpenAI through Looptrace"',
  'base_url = "<url>/v1"',
  'env_key = "OPENAI_API_KEY"',
  'wire_api = "responses"',
]

const otherClients: readonly Client[] = [
  {
    ...{ name: 'claude-code', title: 'Claude Code, Claude Agent SDK', calls: 'Messages' },
    ...{ language: 'shell', ...beside, place: shell },
    lines: [
      'export ANTHROPIC_BASE_URL="<url>"',
      'export ANTHROPIC_CUSTOM_HEADERS="X-Looptrace-Key: <key>"',
    ],
  },
  {
    ...{ name: 'codex', title: 'Codex CLI', calls: 'Responses', language: 'toml' },
    ...{ base: '/v1', key_in: 'X-API-Key', place: '~/.codex/config.toml' },
    lines: [...codexHead, 'env_http_headers = { "X-API-Key" = "LOOPTRACE_API_KEY" }'],
    lines_with_key: [...codexHead, 'http_headers = { "X-API-Key" = "<key>" }'],
  },
  {
    ...{ name: 'gemini-cli', title: 'Gemini CLI, with an API key', calls: 'generateContent' },
    ...{ language: 'shell', ...beside, place: shell },
    lines: [
      'export GOOGLE_GEMINI_BASE_URL="<url>"',
      'export GEMINI_CLI_CUSTOM_HEADERS="X-Looptrace-Key: <key>"',
    ],
  },
  {
    ...{ name: 'base-url', title: 'a client that can only set a base URL', calls: 'any' },
    ...{
      language: 'shell',
      base: '',
      key_in: 'the base URL',
      place: 'its setting of the base URL',
    },
    lines: ['export OPENAI_BASE_URL="<url>/k/<key>/v1"'],
  },
  {
    ...{ name: 'logfire', title: 'logfire', calls: 'spans by OTLP', language: 'shell' },
    ...{ base: null, key_in: 'authorization', place: shell },
    lines: [
      'export LOGFIRE_SEND_TO_LOGFIRE=false',
      'export OTEL_EXPORTER_OTLP_ENDPOINT="<url>"',
      'export OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer <key>"',
    ],
  },
  {
    ...{ name: 'langfuse', title: 'Langfuse SDKs', calls: 'spans by OTLP', language: 'shell' },
    ...{ base: null, key_in: 'the secret key', place: shell },
    lines: [
      'export LANGFUSE_HOST="<url>"',
      'export LANGFUSE_PUBLIC_KEY="looptrace"',
      'export LANGFUSE_SECRET_KEY="<key>"',
    ],
  },
  {
    ...{ name: 'otlp', title: 'an exporter of OpenTelemetry', calls: 'spans by OTLP' },
    ...{ language: 'shell', base: null, key_in: 'authorization', place: shell },
    lines: [
      'export OTEL_EXPORTER_OTLP_ENDPOINT="<url>"',
      'export OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer <key>"',
    ],
  },
]

/** The clients of `looptrace connect`, in the order of its list. To add one, add its row. */
export const clients: readonly Client[] = [...pythonClients, ...nodeClients, ...otherClients]

const variables: Record<Language, string> = {
  python: 'os.environ["LOOPTRACE_API_KEY"]',
  node: 'process.env.LOOPTRACE_API_KEY',
  shell: '$LOOPTRACE_API_KEY',
  toml: 'LOOPTRACE_API_KEY',
}

/** Returns the lines to paste; with `key` they hold the key itself, else the variable with it. */
export function linesOf(client: Client, { url, key }: { url: string; key?: string }): string[] {
  const { language, lines, lines_with_key = lines } = client
  const isQuoted = language === 'python' || language === 'node'
  const shown = isQuoted ? JSON.stringify(key) : String(key)
  const value = key === undefined ? variables[language] : shown
  const chosen = key === undefined ? lines : lines_with_key
  const isUsed = chosen.some((line) => line.includes('os.environ') || line.includes('<key>'))
  const needed = chosen.filter((line) => line !== 'import os' || isUsed)
  return needed.map((line) => line.replaceAll('<url>', url).replaceAll('<key>', () => value))
}

/** Returns the table of the guide: each client with its base URL and the place of the project key. */
export function clientsTable(url: string): string[] {
  return [
    '| client | its default call | base URL | project key | `looptrace connect` |',
    '|---|---|---|---|---|',
    ...clients.map(({ name, title, calls, base, key_in }) => {
      const at = name === 'base-url' ? `\`${url}/k/lt_…\`, and \`/v1\` where it needs that` : ''
      const set = base === null ? `\`${url}\` as endpoint` : `\`${url}${base}\``
      const key = key_in.startsWith('the ') ? `in ${key_in}` : `header \`${key_in}\``
      return `| ${title} | ${calls} | ${at || set} | ${key} | \`${name}\` |`
    }),
  ]
}
