import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { backOff } from '../../../../kernel/back-off.ts'
import type { Exchange } from '../../../../model/exchange.ts'
import type { IngestRecords } from '../../../../model/ingest-records.ts'
import type { RetryLimits } from '../../../../platform/queue/index.ts'
import type { LedgerRequest } from '../../../ledger/index.ts'
import {
  applyCapture,
  type CapturePolicies,
  type CapturePolicy,
  maskText,
  refusalOf,
} from '../../../records/capture/index.ts'
import type { Enqueuer } from '../../enqueue/index.ts'
import type { LossReason } from './record-ledger.ts'

/** What became of a call that was not recorded as it came. */
type CaptureOutcome =
  | { state: 'published' }
  | { state: 'refused'; reason: string }
  | { state: 'lost'; reason: LossReason; cause: unknown }

/** The way of calls of projects that do not let everything be recorded. */
export type CaptureWay = {
  /** See `CapturePolicies`: a promise that never rejects, when the project is not known yet. */
  policyOf(project_id: string): CapturePolicy | Promise<CapturePolicy>
  /** Resolves when the call is durable, refused or lost; never rejects. */
  take(
    exchange: Exchange,
    about: { policy: CapturePolicy; call: LedgerRequest },
  ): Promise<CaptureOutcome>
}

export type CaptureWayOptions = {
  policies: Pick<CapturePolicies, 'policyOf'>
  enqueuer: Pick<Enqueuer, 'enqueue'>
  /** What a compressed answer may grow to. 32 MiB when left out. */
  response_bytes_max?: number
  /** How often a call is handed to the queue, and the first delay between tries; it doubles. */
  retry?: RetryLimits
}

/**
 * Makes the way: the call is mapped here, its policy applied, and only what is left goes to the
 * queue, so that nothing else is ever written down. That is work of milliseconds for large calls,
 * so it is done in turns between which the calls in flight go on.
 */
export function createCaptureWay(options: CaptureWayOptions): CaptureWay {
  const takeTurn = createTurns()
  const mapping = createEdgeMapping(options.response_bytes_max ?? defaultResponse_bytes_max)
  return {
    policyOf: (project_id) => options.policies.policyOf(project_id),
    take: async (exchange, { policy, call }) => {
      const refusal = refusalOf(policy, exchange.facts.trace_id)
      if (refusal !== undefined) return { state: 'refused', reason: refusal }
      try {
        const toRecords = await mapping()
        await takeTurn()
        const before = masked(exchange, policy)
        const after = applyCapture(policy, toRecords(before))
        const isMasked = before !== exchange || after.masked > 0
        const request = { ...call, ...after, items: 1, masked: isMasked ? 1 : 0 }
        return await enqueued(options, request)
      } catch (cause) {
        return { state: 'lost', reason: 'not_mapped', cause }
      }
    },
  }
}

const defaultResponse_bytes_max = 32 * 1024 * 1024
const turn_ms = 2

/** Gives out turns: after 2 ms of work the event loop goes round once. */
function createTurns(): () => Promise<void> {
  let started_ms = Number.NEGATIVE_INFINITY
  let last: Promise<void> = Promise.resolve()
  const next = async (before: Promise<void>) => {
    await before
    if (performance.now() - started_ms < turn_ms) return
    await nextTurn()
    started_ms = performance.now()
  }
  return () => {
    last = next(last)
    return last
  }
}

/** The mapping cuts long texts; what a mask matches must be gone before a cut can halve it. */
function masked(exchange: Exchange, { masker }: CapturePolicy): Exchange {
  if (masker === undefined) return exchange
  const { facts, request, response } = exchange
  const text = Buffer.from(request.buffer, request.byteOffset, request.length).toString('utf8')
  const maskedRequest = maskText(text, masker)
  let isSame = maskedRequest === text
  const attributes: Record<string, string> = {}
  for (const key in facts.attributes) {
    const value = facts.attributes[key] ?? ''
    const maskedValue = masker.replacementOf(key) ?? maskText(value, masker)
    attributes[key] = maskedValue
    isSame &&= maskedValue === value
  }
  if (isSame) return exchange
  return { facts: { ...facts, attributes }, request: Buffer.from(maskedRequest), response }
}

const defaultRetry: RetryLimits = { attempts_max: 5, delay_ms: 100 }

async function enqueued(
  { enqueuer, retry = defaultRetry }: CaptureWayOptions,
  request: Parameters<Enqueuer['enqueue']>[0],
): Promise<CaptureOutcome> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await enqueuer.enqueue(request)
      return { state: 'published' }
    } catch (cause) {
      if (attempt >= retry.attempts_max) return { state: 'lost', reason: 'not_published', cause }
    }
    await sleep(backOff({ base_ms: retry.delay_ms }, attempt), undefined, { ref: false })
  }
}

/** Turns a call into its records. */
type EdgeMapping = (exchange: Exchange) => IngestRecords

/**
 * The mapping of calls for an edge, loaded when it is needed first: with the price table it weighs
 * 12 MB of heap, which most proxies never need and every collection would pay for. The worker
 * counts the tokens of a call whose provider gave no usage with a tokenizer; its loading alone
 * would hold all calls up for a quarter of a second, so that here characters are counted.
 */
function createEdgeMapping(response_bytes_max: number): () => Promise<EdgeMapping> {
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
