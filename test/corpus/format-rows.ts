import { exchangeToObservation } from '../../src/capabilities/records/exchanges/mapping/exchange-to-records.ts'
import { createPricing } from '../../src/capabilities/records/pricing/index.ts'
import type { ExchangeFacts } from '../../src/model/exchange.ts'
import type { Observation } from '../../src/model/observation.ts'

/** A call as its client sent it and as the provider answered it. */
export type WireCall = { request: object; response: object }

const pricing = createPricing()
const context = { pricing, countTokens: () => 0, response_bytes_max: 1_000_000 }

/** Returns the rows that the worker stores for calls of one wire format, 5 seconds apart. */
export function formatRows(
  endpoint: ExchangeFacts['endpoint'],
  calls: readonly WireCall[],
): Observation[] {
  return calls.map(({ request, response }, at) => {
    const start = 1_790_000_000_000_000_000n + BigInt(at) * 5_000_000_000n
    const facts: ExchangeFacts = {
      ...{ project_id: '0198c0de-0000-7000-8000-00000000000a', endpoint, provider: 'openai' },
      ...{ trace_id: '0198c0de-0000-7000-8000-000000000001', observation_id: `o${at}` },
      ...{ parent_observation_id: '', start_time: `${start}` },
      ...{ end_time: `${start + 1_000_000_000n}` },
      ...{ first_token_time: null, outcome: 'complete', status_code: 200, error_type: '' },
      ...{ error_message: '', streamed: false, usage_requested_by_us: false, request_bytes: 1 },
      ...{ response_bytes: 1, response_encoding: '', response_type: 'application/json' },
      ...{ content_state: 'full', task_id: 'task-1', task_name: '', conversation_id: '' },
      ...{ user_id: '', environment: '', release: '', attributes: {} },
    }
    const exchange = {
      facts,
      request: Buffer.from(JSON.stringify(request)),
      response: Buffer.from(JSON.stringify(response)),
    }
    return exchangeToObservation(exchange, `m${at}`, context)
  })
}
