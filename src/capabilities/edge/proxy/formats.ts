import type { ExchangeFacts } from '../../../model/exchange.ts'

/** A wire format of a route: those that are recorded, and the lists of models, which are not. */
export type Endpoint = ExchangeFacts['endpoint'] | 'models' | 'generate_content.models'

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
}

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
  models: { dialect: 'openai', provider: 'openai' },
  'generate_content.models': { dialect: 'google', provider: 'gemini' },
}

/** The names of the wire formats. */
export const endpoints = Object.keys(formats) as [Endpoint, ...Endpoint[]]

/** Returns whether a route retrieves or cancels a response that an earlier call began. */
export function isRetrieval(endpoint: Endpoint): boolean {
  return endpoint === 'responses.retrieve' || endpoint === 'interactions.retrieve'
}

/** Returns whether calls of a route are recorded. Lists of models pass, and are only counted. */
export function isRecorded(endpoint: Endpoint): endpoint is ExchangeFacts['endpoint'] {
  return endpoint !== 'models' && endpoint !== 'generate_content.models'
}
