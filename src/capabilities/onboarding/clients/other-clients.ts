import { beside, type Client, type GivenClient, program } from './client.ts'

const shell = 'the shell in which you start it'

/** The clients of Node. */
export const nodeClients: readonly Client[] = [
  node({
    name: 'openai-node',
    title: 'openai (Node)',
    calls: 'Responses, chat completions',
    lines: [
      "import OpenAI from 'openai'",
      '',
      "const client = new OpenAI({ baseURL: '<url>/v1', defaultHeaders: { 'X-API-Key': <key> } })",
    ],
  }),
  node({
    name: 'anthropic-node',
    title: '@anthropic-ai/sdk (Node)',
    calls: 'Messages',
    ...beside,
    lines: [
      "import Anthropic from '@anthropic-ai/sdk'",
      '',
      "const client = new Anthropic({ baseURL: '<url>', defaultHeaders: { 'X-Looptrace-Key': <key> } })",
    ],
  }),
  node({
    name: 'google-genai-node',
    title: '@google/genai (Node)',
    ...beside,
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
    name: 'ai-sdk',
    title: 'AI SDK, OpenAI',
    calls: 'Responses',
    lines: [
      "import { createOpenAI } from '@ai-sdk/openai'",
      '',
      "const openai = createOpenAI({ baseURL: '<url>/v1', headers: { 'X-API-Key': <key> } })",
    ],
  }),
  node({
    name: 'ai-sdk-anthropic',
    title: 'AI SDK, Anthropic',
    calls: 'Messages',
    key_in: 'X-Looptrace-Key',
    lines: [
      "import { createAnthropic } from '@ai-sdk/anthropic'",
      '',
      "const anthropic = createAnthropic({ baseURL: '<url>/v1', headers: { 'X-Looptrace-Key': <key> } })",
    ],
  }),
  node({
    name: 'ai-sdk-google',
    title: 'AI SDK, Google',
    calls: 'generateContent',
    base: '/v1beta',
    key_in: 'X-Looptrace-Key',
    lines: [
      "import { createGoogleGenerativeAI } from '@ai-sdk/google'",
      '',
      "const google = createGoogleGenerativeAI({ baseURL: '<url>/v1beta', headers: { 'X-Looptrace-Key': <key> } })",
    ],
  }),
]

function node(given: GivenClient): Client {
  return { language: 'node', base: '/v1', key_in: 'X-API-Key', place: program, ...given }
}

const codexHead = [
  'model_provider = "looptrace"',
  '',
  '[model_providers.looptrace]',
  'name = "OpenAI through Looptrace"',
  'base_url = "<url>/v1"',
  'env_key = "OPENAI_API_KEY"',
  'wire_api = "responses"',
]

/** Programs with settings of their own, and exporters of spans. */
export const otherClients: readonly Client[] = [
  {
    name: 'claude-code',
    title: 'Claude Code, Claude Agent SDK',
    calls: 'Messages',
    language: 'shell',
    ...beside,
    place: shell,
    lines: [
      'export ANTHROPIC_BASE_URL="<url>"',
      'export ANTHROPIC_CUSTOM_HEADERS="X-Looptrace-Key: <key>"',
    ],
  },
  {
    name: 'codex',
    title: 'Codex CLI',
    calls: 'Responses',
    language: 'toml',
    base: '/v1',
    key_in: 'X-API-Key',
    place: '~/.codex/config.toml',
    lines: [...codexHead, 'env_http_headers = { "X-API-Key" = "LOOPTRACE_API_KEY" }'],
    lines_with_key: [...codexHead, 'http_headers = { "X-API-Key" = "<key>" }'],
  },
  {
    name: 'gemini-cli',
    title: 'Gemini CLI, with an API key',
    calls: 'generateContent',
    language: 'shell',
    ...beside,
    place: shell,
    lines: [
      'export GOOGLE_GEMINI_BASE_URL="<url>"',
      'export GEMINI_CLI_CUSTOM_HEADERS="X-Looptrace-Key: <key>"',
    ],
  },
  {
    name: 'base-url',
    title: 'a client that can only set a base URL',
    calls: 'any',
    language: 'shell',
    base: '/k/<key>',
    key_in: 'the base URL',
    place: 'its setting of the base URL',
    lines: ['export OPENAI_BASE_URL="<url>/k/<key>/v1"'],
  },
  {
    name: 'logfire',
    title: 'logfire',
    calls: 'spans by OTLP',
    language: 'shell',
    base: null,
    key_in: 'authorization',
    place: shell,
    lines: [
      'export LOGFIRE_SEND_TO_LOGFIRE=false',
      'export OTEL_EXPORTER_OTLP_ENDPOINT="<url>"',
      'export OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer <key>"',
    ],
  },
  {
    name: 'langfuse',
    title: 'Langfuse SDKs',
    calls: 'spans by OTLP',
    language: 'shell',
    base: null,
    key_in: 'the secret key',
    place: shell,
    lines: [
      'export LANGFUSE_HOST="<url>"',
      'export LANGFUSE_PUBLIC_KEY="looptrace"',
      'export LANGFUSE_SECRET_KEY="<key>"',
    ],
  },
  {
    name: 'otlp',
    title: 'an exporter of OpenTelemetry',
    calls: 'spans by OTLP',
    language: 'shell',
    base: null,
    key_in: 'authorization',
    place: shell,
    lines: [
      'export OTEL_EXPORTER_OTLP_ENDPOINT="<url>"',
      'export OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer <key>"',
    ],
  },
]
