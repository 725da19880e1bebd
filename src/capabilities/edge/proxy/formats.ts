import type { ExchangeFacts } from '../../../model/exchange.ts'

/** Endpoints whose calls pass and are only counted: none of them is a call of a model. */
const unrecorded = [
  'models',
  'generate_content.models',
  'files',
  'generate_content.files',
  'batches',
  'generate_content.batches',
  'vector_stores',
  'conversations',
  'agents',
  'sessions',
] as const

/** A wire format of a route: those that are recorded, and those that are not. */
export type Endpoint = ExchangeFacts['endpoint'] | (typeof unrecorded)[number]

/** The API whose clients read an error. Each has its own shape of errors and place for its key. */
export type Dialect = 'openai' | 'anthropic' | 'google'

/** How the proxy serves a wire format. */
type Format = {
  readonly dialect: Dialect
  /** The provider of calls without X-Provider. */
  readonly provider: 'openai' | 'anthropic' | 'gemini'
  /**
   * The path below the base URL of a provider. Undefined where the path names a model: the path of
   * the client then goes on.
   */
  readonly path?: string
  /** Whether a streamed call must ask for its usage by `stream_options`. */
  readonly asks_usage?: true
  /** The last event of a complete stream; absent for a format whose streams have no mark. */
  readonly last_event?: 'done' | 'message_stop' | 'response_end'
  /**
   * `passed`: bytes of any media type pass. The headers of the client tell whose
   * API it means, as they do for lists of models.
   */
  readonly kind?: 'models' | 'passed'
}

const passed: Format = { dialect: 'openai', provider: 'openai', kind: 'passed' }
const passedToAnthropic: Format = { dialect: 'anthropic', provider: 'anthropic', kind: 'passed' }
const passedToGemini: Format = { dialect: 'google', provider: 'gemini', kind: 'passed' }

/** The wire formats by endpoint. To add one, add its row, its routes and its providers. */
export const formats: Readonly<Record<Endpoint, Format>> = {
  'chat.completions': {
    dialect: 'openai',
    provider: 'openai',
    path: '/chat/completions',
    asks_usage: true,
    last_event: 'done',
  },
  completions: {
    dialect: 'openai',
    provider: 'openai',
    path: '/completions',
    asks_usage: true,
    last_event: 'done',
  },
  responses: {
    dialect: 'openai',
    provider: 'openai',
    path: '/responses',
    last_event: 'response_end',
  },
  'responses.compact': { dialect: 'openai', provider: 'openai', path: '/responses/compact' },
  'responses.count_tokens': {
    dialect: 'openai',
    provider: 'openai',
    path: '/responses/input_tokens',
  },
  'responses.retrieve': { dialect: 'openai', provider: 'openai', last_event: 'response_end' },
  embeddings: { dialect: 'openai', provider: 'openai', path: '/embeddings' },
  messages: {
    dialect: 'anthropic',
    provider: 'anthropic',
    path: '/messages',
    last_event: 'message_stop',
  },
  'messages.count_tokens': {
    dialect: 'anthropic',
    provider: 'anthropic',
    path: '/messages/count_tokens',
  },
  generate_content: { dialect: 'google', provider: 'gemini' },
  'generate_content.count_tokens': { dialect: 'google', provider: 'gemini' },
  interactions: { dialect: 'google', provider: 'gemini', last_event: 'done' },
  'interactions.retrieve': { dialect: 'google', provider: 'gemini', last_event: 'done' },
  models: { dialect: 'openai', provider: 'openai', kind: 'models' },
  'generate_content.models': { dialect: 'google', provider: 'gemini', kind: 'models' },
  images: passed,
  audio: passed,
  rerank: passed,
  moderations: passed,
  files: passed,
  'generate_content.files': passedToGemini,
  batches: passed,
  'generate_content.batches': passedToGemini,
  vector_stores: passed,
  conversations: passed,
  agents: passedToAnthropic,
  sessions: passedToAnthropic,
}

/** The names of the wire formats. */
export const endpoints = Object.keys(formats) as [Endpoint, ...Endpoint[]]

/** Returns whether a route retrieves or cancels a response that an earlier call began. */
export function isRetrieval(endpoint: Endpoint): boolean {
  return endpoint === 'responses.retrieve' || endpoint === 'interactions.retrieve'
}

const unrecordedEndpoints: ReadonlySet<string> = new Set(unrecorded)

/** Returns whether calls of a route are recorded. Others pass, and are only counted. */
export function isRecorded(endpoint: Endpoint): endpoint is ExchangeFacts['endpoint'] {
  return !unrecordedEndpoints.has(endpoint)
}

/** Returns whether bytes of any media type pass on a route. */
export function isPassed(endpoint: Endpoint): boolean {
  return formats[endpoint].kind === 'passed'
}
