import { exchangeToObservation } from '../../src/capabilities/records/exchanges/mapping/exchange-to-records.ts'
import { createPricing } from '../../src/capabilities/records/pricing/index.ts'
import type { ExchangeFacts } from '../../src/model/exchange.ts'
import type { Observation } from '../../src/model/observation.ts'
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
    ...{ project_id: '0198c0de-0000-7000-8000-00000000000a', endpoint, provider: 'openai' },
    ...{ trace_id: '0198c0de-0000-7000-8000-000000000001', observation_id: 'o1' },
    ...{ parent_observation_id: '', start_time: '1790000000000000000' },
    ...{ end_time: '1790000001000000000', first_token_time: null, outcome: 'complete' },
    ...{ status_code: response.status, error_type: '', error_message: '' },
    ...{ streamed: response.streamed, usage_requested_by_us: false, request_bytes: 1 },
    ...{ response_bytes: 1, response_encoding: '', content_state: 'full', task_id: '' },
    response_type: response.headers['content-type'] ?? '',
    ...{ task_name: '', conversation_id: '', user_id: '', environment: '', release: '' },
    attributes: {},
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
