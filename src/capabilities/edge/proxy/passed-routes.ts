import { type CallRoute, ofBeta, ofVersion1 } from './call-route.ts'
import { type Endpoint, isRecorded } from './formats.ts'

/** Paths that pass with everything below them. */
type PassedFamily = {
  url: string
  endpoint: Endpoint
  /** The last word of the ids of the routes. */
  name: string
  about: string
  /** By default POST for what is recorded, else GET, POST and DELETE. */
  methods?: readonly Method[]
}
type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

const families: readonly PassedFamily[] = [
  { url: '/v1/images', endpoint: 'images', name: 'Images', about: 'images' },
  { url: '/v1/audio', endpoint: 'audio', name: 'Audio', about: 'speech and transcription' },
  { url: '/v1/rerank', endpoint: 'rerank', name: 'Rerank', about: 'an order of documents' },
  { url: '/v1/moderations', endpoint: 'moderations', name: 'Moderations', about: 'moderation' },
  { url: '/v1/files', endpoint: 'files', name: 'Files', about: 'files' },
  {
    url: '/v1beta/files',
    endpoint: 'generate_content.files',
    name: 'GeminiFiles',
    about: 'files of the Gemini API',
  },
  { url: '/v1/batches', endpoint: 'batches', name: 'Batches', about: 'batches' },
  {
    url: '/v1/messages/batches',
    endpoint: 'batches',
    name: 'MessageBatches',
    about: 'batches of Messages',
  },
  {
    url: '/v1beta/batches',
    endpoint: 'generate_content.batches',
    name: 'GeminiBatches',
    about: 'batches of the Gemini API',
  },
  {
    url: '/v1/vector_stores',
    endpoint: 'vector_stores',
    name: 'VectorStores',
    about: 'vector stores',
  },
  {
    url: '/v1/conversations',
    endpoint: 'conversations',
    name: 'Conversations',
    about: 'stored conversations',
  },
  {
    url: '/v1/agents',
    endpoint: 'agents',
    name: 'Agents',
    about: 'managed agents',
    methods: ['GET', 'POST', 'PATCH', 'DELETE'],
  },
  { url: '/v1/sessions', endpoint: 'sessions', name: 'Sessions', about: 'sessions of agents' },
]

/** Without `/api/v1`, where conversations and others are our own. */
const ofVersion1Alone = ofVersion1.filter(({ start }) => start !== '/api/v1')

const verbs = { GET: 'Get', POST: 'Post', PATCH: 'Patch', DELETE: 'Delete' } as const

/** The routes of requests that pass to a provider as they are. */
export const passedRoutes: readonly CallRoute[] = families.flatMap(toRoutes)

function toRoutes({ url, endpoint, name, about, ...more }: PassedFamily): CallRoute[] {
  const isKept = isRecorded(endpoint)
  const { methods = isKept ? ['POST'] : ['GET', 'POST', 'DELETE'] } = more
  const kept = isKept ? 'recorded without content' : 'it is not recorded'
  const aliases = url.startsWith('/v1beta') ? ofBeta : ofVersion1Alone
  return methods.map((method: Method) => ({
    url,
    endpoint,
    aliases,
    below: true,
    id: `pass${verbs[method]}${name}`,
    ...(method !== 'POST' && { method }),
    summary: `Pass a request at or below this path to a provider: ${about}; ${kept}`,
  }))
}
