import type { PathAlias } from '../../../platform/http/index.ts'
import { type Endpoint, isRecorded } from './formats.ts'

/** A route of the data plane as data. */
export type CallRoute = {
  /** POST by default. */
  method?: 'GET' | 'PATCH' | 'DELETE'
  url: string
  /** It opens a WebSocket. */
  opens_socket?: true
  /** It serves the paths below too, whose bytes are of any media type. */
  below?: true
  /** Starts of paths that clients with another base URL use. */
  aliases?: readonly PathAlias[]
  endpoint: Endpoint
  id: string
  summary: string
}

/**
 * Base URLs without a version, with the version twice, and those of other services, whose users replace
 * the host only.
 */
const ofVersion1: readonly PathAlias[] = ['', '/v1/v1', '/openai/v1', '/api/v1'].map((start) => ({
  start,
  instead_of: '/v1',
}))
const ofBeta: readonly PathAlias[] = ['', '/v1/v1beta', '/v1beta/v1beta'].map((start) => ({
  start,
  instead_of: '/v1beta',
}))

/** Without `/api/v1`, where conversations and others are our own. */
const ofVersion1Alone = ofVersion1.filter(({ start }) => start !== '/api/v1')

/** Paths that pass with everything below them. */
type PassedRoutes = {
  url: string
  endpoint: Endpoint
  /** The last word of the ids of the routes. */
  name: string
  about: string
  /** By default POST for what is recorded, else GET, POST and DELETE. */
  methods?: readonly Method[]
}
type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

const passedRoutes: readonly PassedRoutes[] = [
  { url: '/v1/images', endpoint: 'images', name: 'Images', about: 'images' },
  { url: '/v1/audio', endpoint: 'audio', name: 'Audio', about: 'speech and transcription' },
  { url: '/v1/rerank', endpoint: 'rerank', name: 'Rerank', about: 'an order of documents' },
  { url: '/v1/moderations', endpoint: 'moderations', name: 'Moderations', about: 'moderation' },
  { url: '/v1/files', endpoint: 'files', name: 'Files', about: 'files' },
  {
    ...{ url: '/v1beta/files', endpoint: 'generate_content.files' },
    ...{ name: 'GeminiFiles', about: 'files of the Gemini API' },
  },
  { url: '/v1/batches', endpoint: 'batches', name: 'Batches', about: 'batches' },
  {
    ...{ url: '/v1/messages/batches', endpoint: 'batches' },
    ...{ name: 'MessageBatches', about: 'batches of Messages' },
  },
  {
    ...{ url: '/v1beta/batches', endpoint: 'generate_content.batches' },
    ...{ name: 'GeminiBatches', about: 'batches of the Gemini API' },
  },
  {
    ...{ url: '/v1/vector_stores', endpoint: 'vector_stores' },
    ...{ name: 'VectorStores', about: 'vector stores' },
  },
  {
    ...{ url: '/v1/conversations', endpoint: 'conversations' },
    ...{ name: 'Conversations', about: 'stored conversations' },
  },
  {
    ...{ url: '/v1/agents', endpoint: 'agents', name: 'Agents', about: 'managed agents' },
    methods: ['GET', 'POST', 'PATCH', 'DELETE'],
  },
  { url: '/v1/sessions', endpoint: 'sessions', name: 'Sessions', about: 'sessions of agents' },
]

const verbs = { GET: 'Get', POST: 'Post', PATCH: 'Patch', DELETE: 'Delete' } as const

function passedRoutesOf({ url, endpoint, name, about, ...more }: PassedRoutes): CallRoute[] {
  const isKept = isRecorded(endpoint)
  const { methods = isKept ? ['POST'] : ['GET', 'POST', 'DELETE'] } = more
  const kept = isKept ? 'recorded without content' : 'it is not recorded'
  const aliases = url.startsWith('/v1beta') ? ofBeta : ofVersion1Alone
  return methods.map((method: Method) => ({
    ...{ url, endpoint, aliases, below: true, id: `pass${verbs[method]}${name}` },
    ...(method !== 'POST' && { method }),
    summary: `Pass a request at or below this path to a provider: ${about}; ${kept}`,
  }))
}

/**
 * The routes of calls. `…/{model}:method` comes before `…/{model}`, whose pattern matches it too, so
 * that errors name the methods of the first.
 */
export const callRoutes: readonly CallRoute[] = [
  {
    url: '/v1/chat/completions',
    aliases: ofVersion1,
    endpoint: 'chat.completions',
    id: 'createChatCompletion',
    summary: 'Forward a chat completion to a model provider and record it',
  },
  {
    url: '/v1/completions',
    aliases: ofVersion1,
    endpoint: 'completions',
    id: 'createCompletion',
    summary: 'Forward a legacy completion to a model provider and record it',
  },
  {
    url: '/v1/responses',
    aliases: ofVersion1,
    endpoint: 'responses',
    id: 'createResponse',
    summary: 'Forward a call of the Responses API and record it',
  },
  {
    method: 'GET',
    url: '/v1/responses',
    aliases: ofVersion1,
    endpoint: 'responses',
    opens_socket: true,
    id: 'openResponsesSocket',
    summary: 'Open a WebSocket of the Responses API; each response on it is recorded as a call',
  },
  {
    method: 'GET',
    url: '/v1/responses/{response_id}',
    aliases: ofVersion1,
    endpoint: 'responses.retrieve',
    id: 'getResponse',
    summary: 'Forward the retrieval or replay of a response; recorded once for each response',
  },
  {
    url: '/v1/responses/compact',
    aliases: ofVersion1,
    endpoint: 'responses.compact',
    id: 'compactResponse',
    summary: 'Forward the compaction of a history and record it',
  },
  {
    url: '/v1/responses/input_tokens',
    aliases: ofVersion1,
    endpoint: 'responses.count_tokens',
    id: 'countResponseTokens',
    summary: 'Forward a count of tokens of the Responses API and record it',
  },
  {
    url: '/v1/responses/{response_id}/cancel',
    aliases: ofVersion1,
    endpoint: 'responses.retrieve',
    id: 'cancelResponse',
    summary: 'Forward the cancellation of a response; recorded once for each response',
  },
  {
    url: '/v1/embeddings',
    aliases: ofVersion1,
    endpoint: 'embeddings',
    id: 'createEmbeddings',
    summary: 'Forward a request for embeddings and record it',
  },
  {
    url: '/v1/messages',
    aliases: ofVersion1,
    endpoint: 'messages',
    id: 'createMessage',
    summary: 'Forward a call of the Messages API and record it',
  },
  {
    url: '/v1/messages/count_tokens',
    aliases: ofVersion1,
    endpoint: 'messages.count_tokens',
    id: 'countMessageTokens',
    summary: 'Forward a count of tokens of the Messages API and record it',
  },
  {
    url: '/v1beta/models/{model}:generateContent',
    aliases: ofBeta,
    endpoint: 'generate_content',
    id: 'generateContent',
    summary: 'Forward a call of the Gemini API and record it',
  },
  {
    url: '/v1beta/models/{model}:streamGenerateContent',
    aliases: ofBeta,
    endpoint: 'generate_content',
    id: 'streamGenerateContent',
    summary: 'Forward a streamed call of the Gemini API and record it',
  },
  {
    url: '/v1beta/models/{model}:countTokens',
    aliases: ofBeta,
    endpoint: 'generate_content.count_tokens',
    id: 'countTokens',
    summary: 'Forward a count of tokens of the Gemini API and record it',
  },
  {
    url: '/v1/models/{model}:generateContent',
    endpoint: 'generate_content',
    id: 'generateContentStable',
    summary: 'Forward a call of the Gemini API, version v1, and record it',
  },
  {
    url: '/v1/models/{model}:streamGenerateContent',
    endpoint: 'generate_content',
    id: 'streamGenerateContentStable',
    summary: 'Forward a streamed call of the Gemini API, version v1, and record it',
  },
  {
    url: '/v1/models/{model}:countTokens',
    endpoint: 'generate_content.count_tokens',
    id: 'countTokensStable',
    summary: 'Forward a count of tokens of the Gemini API, version v1, and record it',
  },
  {
    url: '/v1beta/interactions',
    aliases: ofBeta,
    endpoint: 'interactions',
    id: 'createInteraction',
    summary: 'Forward a call of the Interactions API and record it',
  },
  {
    method: 'GET',
    url: '/v1beta/interactions/{response_id}',
    aliases: ofBeta,
    endpoint: 'interactions.retrieve',
    id: 'getInteraction',
    summary: 'Forward the retrieval or replay of an interaction; recorded once for each',
  },
  {
    method: 'GET',
    url: '/v1/interactions/{response_id}',
    endpoint: 'interactions.retrieve',
    id: 'getInteractionStable',
    summary: 'Forward the retrieval of an interaction, version v1; recorded once for each',
  },
  {
    url: '/v1/interactions',
    endpoint: 'interactions',
    id: 'createInteractionStable',
    summary: 'Forward a call of the Interactions API, version v1, and record it',
  },
  {
    url: '/openai/deployments/{deployment}/chat/completions',
    endpoint: 'chat.completions',
    id: 'createDeploymentChatCompletion',
    summary: 'Forward a chat completion of an Azure deployment and record it',
  },
  {
    url: '/openai/deployments/{deployment}/completions',
    endpoint: 'completions',
    id: 'createDeploymentCompletion',
    summary: 'Forward a legacy completion of an Azure deployment and record it',
  },
  {
    url: '/openai/deployments/{deployment}/embeddings',
    endpoint: 'embeddings',
    id: 'createDeploymentEmbeddings',
    summary: 'Forward a request for embeddings of an Azure deployment and record it',
  },
  {
    method: 'GET',
    url: '/v1/models',
    aliases: ofVersion1,
    endpoint: 'models',
    id: 'listModels',
    summary: 'Forward a request for the models of a provider; it is not recorded',
  },
  {
    method: 'GET',
    url: '/v1/models/{model}',
    aliases: ofVersion1,
    endpoint: 'models',
    id: 'getModel',
    summary: 'Forward a request for a model of a provider; it is not recorded',
  },
  {
    method: 'GET',
    url: '/v1beta/models',
    aliases: ofBeta,
    endpoint: 'generate_content.models',
    id: 'listGeminiModels',
    summary: 'Forward a request for the models of the Gemini API; it is not recorded',
  },
  {
    method: 'GET',
    url: '/v1beta/models/{model}',
    aliases: ofBeta,
    endpoint: 'generate_content.models',
    id: 'getGeminiModel',
    summary: 'Forward a request for a model of the Gemini API; it is not recorded',
  },
  ...passedRoutes.flatMap(passedRoutesOf),
]
