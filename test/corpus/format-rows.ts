import { exchangeToObservation } from '../../src/capabilities/records/exchanges/mapping/exchange-to-records.ts'
import { createPricing } from '../../src/capabilities/records/pricing/index.ts'
import type { ExchangeFacts } from '../../src/model/exchange.ts'
import type { Observation } from '../../src/model/observation.ts'
import { plainFacts } from '../support/exchange-facts.ts'

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
      ...plainFacts,
      endpoint,
      observation_id: `o${at}`,
      start_time: `${start}`,
      end_time: `${start + 1_000_000_000n}`,
      task_id: 'task-1',
    }
    const exchange = {
      facts,
      request: Buffer.from(JSON.stringify(request)),
      response: Buffer.from(JSON.stringify(response)),
    }
    return exchangeToObservation(exchange, `m${at}`, context)
  })
}
