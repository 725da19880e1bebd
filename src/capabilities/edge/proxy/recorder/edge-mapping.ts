import type { Exchange } from '../../../../model/exchange.ts'
import type { IngestRecords } from '../../../../model/ingest-records.ts'

/** Turns a call into its records. */
export type EdgeMapping = (exchange: Exchange) => IngestRecords

/**
 * The mapping of calls for an edge, loaded when it is needed first: with the price table it weighs
 * 12 MB of heap, which most proxies never need and every collection would pay for. The worker
 * counts the tokens of a call whose provider gave no usage with a tokenizer; its loading alone
 * would hold all calls up for a quarter of a second, so that here characters are counted.
 */
export function createEdgeMapping(response_bytes_max: number): () => Promise<EdgeMapping> {
  let loaded: Promise<EdgeMapping> | undefined
  return () => {
    loaded ??= load(response_bytes_max)
    return loaded
  }
}

const charsPerToken = 4

async function load(response_bytes_max: number): Promise<EdgeMapping> {
  const [{ exchangeToRecords }, { createPricing }] = await Promise.all([
    import('../../../records/exchanges/index.ts'),
    import('../../../records/pricing/index.ts'),
  ])
  const countTokens = (text: string) => Math.ceil(text.length / charsPerToken)
  const context = { pricing: createPricing(), countTokens, response_bytes_max }
  return (exchange) => exchangeToRecords(exchange, context)
}
