import { exchangeToObservation } from '../../src/capabilities/records/exchanges/mapping/exchange-to-records.ts'
import { createPricing } from '../../src/capabilities/records/pricing/index.ts'
import type { ExchangeFacts } from '../../src/model/exchange.ts'
import type { Observation } from '../../src/model/observation.ts'
import { plainFacts } from './exchange-facts.ts'
import { fixtureNames, readFixture } from './shared-fixtures.ts'

/** A request of a client and the answer of a provider, as they were on the wire. */
export type RecordedExchange = {
  request: { method: string; path: string; body: unknown }
  response: { status: number; body: string; streamed: boolean; headers: Record<string, string> }
}

/** Sessions of providers with the right values of each exchange, of any shape. */
export type RecordedSession<Row> = { exchanges: RecordedExchange[]; expect: Row[] }

const providers = {
  responses: 'openai',
  messages: 'anthropic',
  gemini: 'gemini',
  interactions: 'gemini',
} as const

/** Returns the recorded sessions of all formats; none in a clone without the shared fixtures. */
export function recordedSessions<Row>() {
  return Object.entries(providers).flatMap(([folder, provider]) =>
    fixtureNames(`providers/${folder}`).map((name) => ({
      name: `${folder}/${name}`,
      provider,
      session: () => readFixture<RecordedSession<Row>>(`providers/${folder}/${name}`),
    })),
  )
}

/** Returns the endpoint of a call that the proxy records; undefined for other paths. */
export function endpointOf({
  method,
  path,
}: RecordedExchange['request']): ExchangeFacts['endpoint'] | undefined {
  const [plain = ''] = path.split('?', 1)
  const isGet = method === 'GET' || plain.endsWith('/cancel')
  const [, retrieved] = /\/(responses|interactions)\/[^/]+(\/cancel)?$/.exec(plain) ?? []
  if (plain.endsWith('/responses/compact')) return 'responses.compact'
  if (isGet && retrieved !== undefined) return `${retrieved as 'responses'}.retrieve`
  if (method !== 'POST') return undefined
  if (plain.endsWith('/responses')) return 'responses'
  if (plain.endsWith('/messages')) return 'messages'
  if (plain.endsWith('/messages/count_tokens')) return 'messages.count_tokens'
  if (/:(stream)?generateContent$/i.test(plain)) return 'generate_content'
  if (plain.endsWith(':countTokens')) return 'generate_content.count_tokens'
  return plain.endsWith('/interactions') ? 'interactions' : undefined
}

const pricing = createPricing()

/** Returns the row that the worker stores for an exchange with a provider. */
export function rowOfExchange(
  { request, response }: RecordedExchange,
  endpoint: ExchangeFacts['endpoint'],
  more: Partial<ExchangeFacts> = {},
): Observation {
  const path_model = /\/models\/([^:/?]+):/.exec(request.path)?.[1]
  const facts: ExchangeFacts = {
    ...plainFacts,
    endpoint,
    observation_id: 'o1',
    status_code: response.status,
    streamed: response.streamed,
    response_type: response.headers['content-type'] ?? '',
    ...(path_model !== undefined && { path_model }),
    ...more,
  }
  return exchangeToObservation(
    {
      facts,
      request: Buffer.from(JSON.stringify(request.body ?? {})),
      response: Buffer.from(response.body),
    },
    'm',
    { pricing, countTokens: () => 0, response_bytes_max: 10_000_000 },
  )
}
