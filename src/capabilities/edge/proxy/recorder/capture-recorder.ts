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
import type { CostSource } from '../../../records/pricing/index.ts'
import type { Enqueuer } from '../../enqueue/index.ts'
import type { LossReason } from './record-ledger.ts'

/** The fate of a call that was recorded under a capture policy. */
type CaptureOutcome =
  | { state: 'published' }
  | { state: 'refused'; reason: string }
  | { state: 'lost'; reason: LossReason; cause: unknown }

/** Records the calls of projects whose capture policy leaves something out. */
export type CaptureRecorder = {
  /** Returns the policy of a project; while it is unknown, a promise that never rejects. */
  policyOf(project_id: string): CapturePolicy | Promise<CapturePolicy>
  /** Resolves when the call is durable, refused or lost; never rejects. */
  take(
    exchange: Exchange,
    context: { policy: CapturePolicy; call: LedgerRequest },
  ): Promise<CaptureOutcome>
}

export type CaptureRecorderOptions = {
  policies: Pick<CapturePolicies, 'policyOf'>
  enqueuer: Pick<Enqueuer, 'enqueue'>
  /** Maximum bytes of a decompressed answer, by default 32 MiB. */
  response_bytes_max?: number
  /** Which cost of a call counts when it has a computed and a reported one; see `CostSource`. */
  cost_source?: CostSource | undefined
  /** Attempts to enqueue a call, and the first delay between them; the delay doubles. */
  retry?: RetryLimits
}

/**
 * Maps each call here, applies its policy, and enqueues only the rest, so that nothing else is ever
 * written. A large call takes milliseconds, so the event loop runs in between.
 */
export function createCaptureRecorder(options: CaptureRecorderOptions): CaptureRecorder {
  const yieldIfDue = createYielder()
  const mapping = createEdgeMapping(options)
  return {
    policyOf: (project_id) => options.policies.policyOf(project_id),
    take: async (exchange, { policy, call }) => {
      const refusal = refusalOf(policy, exchange.facts.trace_id)
      if (refusal !== undefined) return { state: 'refused', reason: refusal }
      try {
        const toRecords = await mapping()
        await yieldIfDue()
        const before = maskExchange(exchange, policy)
        const after = applyCapture(policy, toRecords(before))
        const isMasked = before !== exchange || after.masked > 0
        const request = { ...call, ...after, items: 1, masked: isMasked ? 1 : 0 }
        return await enqueueWithRetries(options, request)
      } catch (cause) {
        return { state: 'lost', reason: 'not_mapped', cause }
      }
    },
  }
}

const maxDefaultResponseBytes = 32 * 1024 * 1024
const turn_ms = 2

/** Returns a function that yields to the event loop after each 2 ms of work. */
function createYielder(): () => Promise<void> {
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

/** Masks before the mapping, which cuts long texts: a cut could halve a match. */
function maskExchange(exchange: Exchange, { masker }: CapturePolicy): Exchange {
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

async function enqueueWithRetries(
  { enqueuer, retry = defaultRetry }: CaptureRecorderOptions,
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

/** Maps a call to its records. */
type EdgeMapping = (exchange: Exchange) => IngestRecords

/**
 * Loads the mapping of calls on first use. With its price table it needs 12 MB of heap, which most
 * proxies never use and every garbage collection would traverse. Unlike the worker, it estimates
 * missing token counts from characters: loading a tokenizer would stop all calls for a quarter of a
 * second.
 */
function createEdgeMapping(options: EdgeMappingOptions): () => Promise<EdgeMapping> {
  let loaded: Promise<EdgeMapping> | undefined
  return () => {
    loaded ??= load(options)
    return loaded
  }
}

const charsPerToken = 4

type EdgeMappingOptions = Pick<CaptureRecorderOptions, 'response_bytes_max' | 'cost_source'>

async function load({
  response_bytes_max = maxDefaultResponseBytes,
  cost_source,
}: EdgeMappingOptions): Promise<EdgeMapping> {
  const [{ exchangeToRecords }, { createPricing }] = await Promise.all([
    import('../../../records/exchanges/index.ts'),
    import('../../../records/pricing/index.ts'),
  ])
  const countTokens = (text: string) => Math.ceil(text.length / charsPerToken)
  const context = { pricing: createPricing(cost_source), countTokens, response_bytes_max }
  return (exchange) => exchangeToRecords(exchange, context)
}
