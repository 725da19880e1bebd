import type { CallSums, ConversationRollup, TaskRollup, TraceSummary } from '../contract.ts'

type SumColumn = Exclude<keyof CallSums, 'cost_usd' | 'models' | 'providers'>

/** Columns of every roll-up in JSONEachRow: 64-bit integers are text. */
type SumsRow = Record<SumColumn | 'observations' | 'start_ns' | 'end_ns', string> & {
  cost_text: string
  models: string[]
  providers: string[]
}

export type TaskRollupRow = SumsRow & {
  traces: string
  implicit: boolean
  last_start_ns: string
  /** Trace id and id of observations; at most `fingerprints_max` + 1. */
  identities: [string, string][]
} & Pick<
    TaskRollup,
    'task_id' | 'name' | 'user_id' | 'conversation_id' | 'environment' | 'release' | 'cluster_name'
  >

export type ConversationRollupRow = SumsRow & { tasks: string; traces: string } & Pick<
    ConversationRollup,
    'conversation_id' | 'external_id' | 'user_id'
  >

export type TraceSummaryRow = SumsRow &
  Pick<TraceSummary, 'trace_id' | 'task_id' | 'name' | 'status'>

export function taskRollupFrom(row: TaskRollupRow): TaskRollup {
  return {
    task_id: row.task_id,
    ...sumsFrom(row),
    ...spanFrom(row),
    observations: Number(row.observations),
    traces: Number(row.traces),
    name: row.name,
    user_id: row.user_id,
    conversation_id: row.conversation_id,
    environment: row.environment,
    release: row.release,
    cluster_name: row.cluster_name,
    implicit: row.implicit,
    last_start: BigInt(row.last_start_ns),
    fingerprints: row.identities.length > fingerprints_max ? undefined : toFingerprints(row),
  }
}

function toFingerprints({ identities }: TaskRollupRow): number[] {
  return identities.map(([trace_id, observation_id]) => fingerprintOf(trace_id, observation_id))
}

export function conversationRollupFrom(row: ConversationRollupRow): ConversationRollup {
  return {
    conversation_id: row.conversation_id,
    ...sumsFrom(row),
    ...spanFrom(row),
    observations: Number(row.observations),
    tasks: Number(row.tasks),
    traces: Number(row.traces),
    external_id: row.external_id,
    user_id: row.user_id,
  }
}

export function traceSummaryFrom(row: TraceSummaryRow): TraceSummary {
  return {
    trace_id: row.trace_id,
    ...sumsFrom(row),
    start_time: BigInt(row.start_ns),
    end_time: BigInt(row.end_ns),
    observations: Number(row.observations),
    task_id: row.task_id,
    name: row.name,
    status: row.status,
  }
}

function sumsFrom(row: SumsRow): CallSums {
  return {
    calls: Number(row.calls),
    merged_calls: Number(row.merged_calls),
    errors: Number(row.errors),
    cancelled: Number(row.cancelled),
    input_uncached_tokens: Number(row.input_uncached_tokens),
    cache_read_tokens: Number(row.cache_read_tokens),
    cache_write_tokens: Number(row.cache_write_tokens),
    output_visible_tokens: Number(row.output_visible_tokens),
    reasoning_tokens: Number(row.reasoning_tokens),
    total_tokens: Number(row.total_tokens),
    estimated_calls: Number(row.estimated_calls),
    cost_usd: row.cost_text,
    unpriced_calls: Number(row.unpriced_calls),
    partially_priced_calls: Number(row.partially_priced_calls),
    models: row.models,
    providers: row.providers,
  }
}

function spanFrom(row: SumsRow) {
  return { first_start: BigInt(row.start_ns), last_end: BigInt(row.end_ns) }
}

/** Maximum observations of a task with fingerprints. Larger tasks have no fingerprints. */
export const fingerprints_max = 128

/**
 * Returns the fingerprint of an observation, a signed 32-bit number: FNV-1a over its id and the end
 * of its trace id. Different fingerprints prove different observations; equal ones may collide.
 */
export function fingerprintOf(trace_id: string, observation_id: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < observation_id.length; at++) {
    hash = Math.imul(hash ^ observation_id.charCodeAt(at), 0x01000193)
  }
  for (let at = Math.max(0, trace_id.length - traceChars); at < trace_id.length; at++) {
    hash = Math.imul(hash ^ trace_id.charCodeAt(at), 0x01000193)
  }
  return hash | 0
}

const traceChars = 8

/**
 * Returns SQL of a sum of tokens over calls, up to 2^53 - 1. A sum of UInt64 would begin at 0 again
 * above 2^64, and senders choose the values. Sums of Float64 are exact below 2^53.
 */
export function tokenSum(tokens: string): string {
  return `toUInt64(least(sumIf(toFloat64(${tokens}), o.call), toFloat64(${Number.MAX_SAFE_INTEGER})))`
}

/** SQL of the exact cost of calls, and of the calls without a price or with a partial one. */
export const costSums = `toString(sumIf(ifNull(o.cost_usd, toDecimal64(0, 9)), o.call)) AS cost_text,
  countIf(o.call AND isNull(o.cost_usd)) AS unpriced_calls,
  countIf(o.call AND isNotNull(o.cost_usd) AND notEmpty(o.price_partial)) AS partially_priced_calls`
