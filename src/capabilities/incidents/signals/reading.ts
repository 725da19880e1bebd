import type { Signal } from '../rules/condition-kinds.ts'
import type { Group } from '../rules/groups.ts'
import type { Dimension, Rule } from '../rules/rule.ts'
import type { LateTiming } from './late-timing.ts'

/** Where the rows of a signal are stored. `minutes` are calls, summed by minute. */
export type SignalSource =
  | 'calls'
  | 'minutes'
  | 'tasks'
  | 'findings'
  | 'verifications'
  | 'feedback'
  | 'ledger'

/** A time range in ms since 1970: `from_ms` inclusive, `to_ms` exclusive. */
export type Window = { readonly from_ms: number; readonly to_ms: number }

/** The computation of a source over the rows of a window: percentiles for latencies, else sums. */
export type Amount =
  | 'rows'
  | 'calls'
  | 'errors'
  | 'cost'
  | 'tokens'
  | 'call_tasks'
  | 'task_cost'
  | 'task_tokens'
  | 'latency'
  | 'ttft'
  | 'tasks'
  | 'failed_tasks'
  | 'looped_tasks'
  | 'health'
  | 'loops'
  | 'failures'
  | 'context_failures'
  | 'trust'
  | 'decided_claims'
  | 'wrong_claims'
  | 'votes'
  | 'negative_votes'
  | 'rejected'
  | 'lost'

/** An amount over the rows of a window. */
export type Cell = { readonly amount: Amount; readonly window: Window }

/** The value of a cell, and the rows behind it. `value` is null without rows. */
export type CellValue = { readonly value: number | null; readonly count: number }

/** Which rows a rule reads, and the dimensions of its groups. */
export type Filter = { selector: Rule['selector']; group_by: readonly Dimension[] }

/** The value of a cell without rows. */
export const noCell: CellValue = { value: null, count: 0 }

/** A request to a source: any windows. */
export type ReadRequest = {
  project_id: string
  /** Several filters are for sources of ClickHouse: a row counts in each one that selects it. */
  filters: readonly [Filter, ...Filter[]]
  cells: readonly Cell[]
  /** Decides when late calls count. The sums of minutes have the default timing. */
  timing: LateTiming
  /** Reads only these groups. */
  only?: readonly Group[]
  /**
   * Reads a row for each stretch of time, instead of one for each group: stretches of a width since
   * an instant, or those that begin at each of the ascending edges.
   */
  stretches?: { from_ms: number; width_ms: number } | { edges: readonly number[] }
  /** Reads a row for each of these windows, which may overlap. Only sources of ClickHouse. */
  overlapping?: readonly Window[]
  /** The windows whose rows are read, if they are not those of the cells. */
  windows?: readonly Window[]
  signal: AbortSignal
}

/** Groups with rows in the windows, by key, at most `maxGroupsRead`; `total` counts all. */
export type ReadResult = {
  groups: readonly ReadGroup[]
  total: number
}

/** The cells of a group: of one filter, and of one stretch or overlapping window, by number. */
export type ReadGroup = {
  group: Group
  values: readonly CellValue[]
  filter?: number
  stretch?: number
}

/** Computes the cells of each group. */
export type SourceReader = (request: ReadRequest) => Promise<ReadResult>

/** Maximum rows of a statement with stretches. */
export const maxSeriesRows = 200_000

/** Maximum groups of one statement: one more than a rule has, which shows an overflow. */
export const maxGroupsRead = 501

/** Returns the windows of which rows are read. */
export function windowsOf({ windows, cells }: ReadRequest): readonly Window[] {
  return windows ?? cells.map(({ window }) => window)
}

/** Returns the windows as disjoint ranges in order of time. */
export function mergeWindows(windows: readonly Window[]): Window[] {
  const merged: { from_ms: number; to_ms: number }[] = []
  for (const { from_ms, to_ms } of windows.toSorted((a, b) => a.from_ms - b.from_ms)) {
    const last = merged.at(-1)
    if (last !== undefined && from_ms <= last.to_ms) last.to_ms = Math.max(last.to_ms, to_ms)
    else merged.push({ from_ms, to_ms })
  }
  return merged
}

/** A measured value with the share that burn rates read. */
export type SignalValue = {
  readonly value: number | null
  readonly samples: number
  readonly bad: number
}

/** How a signal is computed from the amounts of one window. */
export type SignalReading = {
  source: Exclude<SignalSource, 'minutes'>
  amounts: readonly Amount[]
  value(cells: readonly CellValue[], window: Window): SignalValue
}

const hour_ms = 3_600_000

/** Returns how a signal is computed; undefined for `ingest_lag`, which is not a sum over rows. */
export function signalReading(
  signal: Signal,
  per: 'hour' | 'task' | undefined,
): SignalReading | undefined {
  switch (signal) {
    case 'absent':
      return total('calls', 'rows')
    case 'error_rate':
      return share('calls', 'errors', 'calls')
    case 'latency_p95':
      return { source: 'calls', amounts: ['latency'], value: ([cell]) => toValue(cell) }
    case 'ttft_p95':
      return { source: 'calls', amounts: ['ttft'], value: ([cell]) => toValue(cell) }
    case 'cost':
    case 'tokens':
      return usage(signal, per)
    case 'failure_rate':
      return share('tasks', 'failed_tasks', 'tasks')
    case 'loop_rate':
      return share('tasks', 'looped_tasks', 'tasks')
    case 'context_health':
      return { source: 'tasks', amounts: ['health'], value: ([cell]) => toMean(cell) }
    case 'loop_count':
      return total('findings', 'loops')
    case 'failure_count':
      return total('findings', 'failures')
    case 'context_failure_count':
      return total('findings', 'context_failures')
    case 'ingest_rejected':
      return { source: 'ledger', amounts: ['rejected'], value: ([cell]) => toValue(cell) }
    case 'ingest_lost':
      return { source: 'ledger', amounts: ['lost'], value: ([cell]) => toValue(cell) }
    case 'trust_score':
      return { source: 'verifications', amounts: ['trust'], value: ([cell]) => toMean(cell) }
    case 'unsupported_claim_rate':
      return share('verifications', 'wrong_claims', 'decided_claims')
    case 'feedback_negative_rate':
      return share('feedback', 'negative_votes', 'votes')
    case 'ingest_lag':
      return undefined
  }
}

const noValue: SignalValue = { value: null, samples: 0, bad: 0 }

function toValue(cell: CellValue | undefined): SignalValue {
  if (cell === undefined || cell.count === 0) return noValue
  return { value: cell.value, samples: cell.count, bad: 0 }
}

function toMean(cell: CellValue | undefined): SignalValue {
  const { value, samples } = toValue(cell)
  return { value: value === null ? null : value / samples, samples, bad: 0 }
}

/** A count of rows: no data without rows. */
function total(source: SignalReading['source'], amount: Amount): SignalReading {
  return { source, amounts: [amount], value: ([cell]) => toValue(cell) }
}

/** The share of bad rows of all rows. */
function share(source: SignalReading['source'], bad: Amount, all: Amount): SignalReading {
  return {
    source,
    amounts: [bad, all],
    value: ([badCell, allCell]) => {
      const samples = allCell?.count ?? 0
      const badCount = badCell?.count ?? 0
      return samples === 0 ? noValue : { value: badCount / samples, samples, bad: badCount }
    },
  }
}

/** Cost and tokens: the sum, the sum by hour, or the mean of tasks. */
function usage(signal: 'cost' | 'tokens', per: 'hour' | 'task' | undefined): SignalReading {
  if (per === 'task') {
    return {
      source: 'calls',
      amounts: [`task_${signal}`, 'call_tasks'],
      value: ([sum, tasks]) => {
        const samples = tasks?.count ?? 0
        return samples === 0 ? noValue : { value: (sum?.value ?? 0) / samples, samples, bad: 0 }
      },
    }
  }
  return {
    source: 'calls',
    amounts: [signal, 'calls'],
    value: ([sum, calls], { from_ms, to_ms }) => {
      const samples = calls?.count ?? 0
      const hours = per === 'hour' ? (to_ms - from_ms) / hour_ms : 1
      return samples === 0 ? noValue : { value: (sum?.value ?? 0) / hours, samples, bad: 0 }
    },
  }
}
