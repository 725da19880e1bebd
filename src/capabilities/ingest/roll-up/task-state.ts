import { dollarsFrom, nanoDollarsFrom } from '../../../kernel/dollars.ts'
import { isModelCall } from '../../../model/observation.ts'
import {
  type CallSums,
  fingerprintOf,
  fingerprints_max,
  type TaskRollup,
} from '../../storage/index.ts'
import type { ObservationHead } from '../../storage/row-format/index.ts'
import { isoFromMs, msFromNs, type TouchedTask } from './touched.ts'

/** The state columns of a task. Instants are ISO 8601. */
export type TaskState = {
  implicit: boolean
  state: 'running' | 'completed' | 'failed'
  ended_at: string | null
  ended_by: string | null
  late_activity: boolean
}

/** The value of `ended_by` for a task without X-Task-ID, which ends with its calls. */
const endedByCall = 'call'

/** The state of a task before its first call. */
export const newTaskState: TaskState = {
  implicit: true,
  state: 'running',
  ended_at: null,
  ended_by: null,
  late_activity: false,
}

/**
 * Returns the state of a task after a batch. A task that a user or client ended stays ended, and
 * records later calls as late activity. A task without X-Task-ID follows the call that ended last;
 * any other task is running. The same batch again gives the same state.
 */
export function taskStateAfter(
  locked: TaskState,
  touched: TouchedTask,
  rollup: Pick<TaskRollup, 'implicit'>,
): TaskState {
  const { ended_at, ended_by, state } = locked
  const implicit = locked.implicit && rollup.implicit
  if (ended_at !== null && ended_by !== endedByCall) {
    const late_activity = locked.late_activity || lateStart(locked, touched) !== undefined
    return { implicit, state, ended_at, ended_by, late_activity }
  }
  const { late_activity } = locked
  if (!implicit)
    return { implicit, state: 'running', ended_at: null, ended_by: null, late_activity }
  const ended_ms = msFromNs(touched.last_end)
  const isOlder = ended_at !== null && ended_ms < Date.parse(ended_at)
  if (isOlder) return { implicit, state, ended_at, ended_by, late_activity }
  return {
    implicit,
    state: touched.last_status === 'ok' ? 'completed' : 'failed',
    ended_at: isoFromMs(ended_ms),
    ended_by: endedByCall,
    late_activity,
  }
}

/** Returns the start of the first call after the task was ended; undefined without such a call. */
export function lateStart(locked: TaskState, touched: TouchedTask): number | undefined {
  const { ended_at, ended_by } = locked
  if (ended_at === null || ended_by === endedByCall) return undefined
  const ended_ms = Date.parse(ended_at)
  const late = touched.rows
    .map(({ start_time }) => msFromNs(start_time))
    .filter((start_ms) => start_ms > ended_ms)
  return late.length === 0 ? undefined : Math.min(...late)
}

/**
 * Computes the roll-up of a task from all its observations. It equals the store's answer for the
 * same rows (a contract test compares the two). A new task then needs no query to the store, which
 * saves most of the work when every trace is a task of its own.
 */
export function computeTaskRollup(
  task_id: string,
  observations: readonly ObservationHead[],
): TaskRollup {
  const rows = latestVersions(observations)
  const [first] = rows
  const rollup: TaskRollup = {
    ...noSums,
    task_id,
    first_start: first?.start_time ?? 0n,
    last_end: first?.end_time ?? 0n,
    observations: rows.length,
    traces: tracesOf(rows),
    name: '',
    user_id: '',
    conversation_id: '',
    environment: '',
    release: '',
    cluster_name: '',
    implicit: true,
    last_start: first?.start_time ?? 0n,
    fingerprints: fingerprintsOf(rows),
    models: [],
    providers: [],
  }
  let nanoDollars = 0n
  for (const row of rows) {
    addPlace(rollup, row)
    if (!isModelCall(row)) continue
    if (row.counted_with !== '') {
      rollup.merged_calls++
      continue
    }
    addCall(rollup, row)
    if (row.cost_usd === null) rollup.unpriced_calls++
    else {
      nanoDollars += nanoDollarsFrom(row.cost_usd)
      if (row.price_partial.length > 0) rollup.partially_priced_calls++
    }
  }
  rollup.cost_usd = dollarsFrom(nanoDollars)
  rollup.models.sort()
  rollup.providers.sort()
  return rollup
}

const noSums: CallSums = {
  calls: 0,
  merged_calls: 0,
  errors: 0,
  cancelled: 0,
  input_uncached_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  output_visible_tokens: 0,
  reasoning_tokens: 0,
  total_tokens: 0,
  estimated_calls: 0,
  cost_usd: '0',
  unpriced_calls: 0,
  partially_priced_calls: 0,
  models: [],
  providers: [],
}

/** Returns each observation once, in its last version, ordered as "latest" requires. */
function latestVersions(observations: readonly ObservationHead[]): readonly ObservationHead[] {
  if (isInOrder(observations)) return observations
  const sorted = observations.toSorted(comparePositions)
  return sorted.filter((row, at) => {
    const next = sorted[at + 1]
    return next === undefined || comparePositions(row, next) !== 0
  })
}

/** Returns true when the rows are in strict order, so that none is duplicated. */
function isInOrder(rows: readonly ObservationHead[]): boolean {
  for (let at = 1; at < rows.length; at++) {
    const [before, row] = [rows[at - 1], rows[at]]
    if (before && row && comparePositions(before, row) >= 0) return false
  }
  return true
}

/** Compares positions; 0 for the same observation. */
function comparePositions(a: ObservationHead, b: ObservationHead): number {
  if (a.start_time !== b.start_time) return a.start_time < b.start_time ? -1 : 1
  if (a.observation_id !== b.observation_id) return a.observation_id < b.observation_id ? -1 : 1
  if (a.trace_id !== b.trace_id) return a.trace_id < b.trace_id ? -1 : 1
  return 0
}

function fingerprintsOf(rows: readonly ObservationHead[]): number[] | undefined {
  if (rows.length > fingerprints_max) return undefined
  return rows.map(({ trace_id, observation_id }) => fingerprintOf(trace_id, observation_id))
}

function tracesOf(rows: readonly ObservationHead[]): number {
  const first = rows[0]?.trace_id
  if (rows.every(({ trace_id }) => trace_id === first)) return rows.length === 0 ? 0 : 1
  return new Set(rows.map(({ trace_id }) => trace_id)).size
}

const listed_max = 100

function addTo(list: string[], text: string): void {
  if (text !== '' && list.length < listed_max && !list.includes(text)) list.push(text)
}

/**
 * Adds times, names and ids. The rows are in order, so a later non-empty name or id replaces an
 * earlier one.
 */
function addPlace(rollup: TaskRollup, row: ObservationHead): void {
  if (row.start_time < rollup.first_start) rollup.first_start = row.start_time
  if (row.start_time > rollup.last_start) rollup.last_start = row.start_time
  if (row.end_time > rollup.last_end) rollup.last_end = row.end_time
  rollup.name = row.task_name || rollup.name
  rollup.user_id = row.user_id || rollup.user_id
  rollup.conversation_id = row.conversation_id || rollup.conversation_id
  rollup.environment = row.environment || rollup.environment
  rollup.release = row.release || rollup.release
  rollup.cluster_name = row.cluster_name || rollup.cluster_name
  rollup.implicit &&= row.task_implicit
}

const buckets = [
  'input_uncached_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'output_visible_tokens',
  'reasoning_tokens',
] as const

function addCall(rollup: TaskRollup, row: ObservationHead): void {
  rollup.calls++
  addTo(rollup.models, row.model || row.model_requested)
  addTo(rollup.providers, row.provider)
  if (row.status === 'error') rollup.errors++
  if (row.status === 'cancelled') rollup.cancelled++
  if (row.usage_source === 'estimated') rollup.estimated_calls++
  for (const bucket of buckets) {
    const tokens = row[bucket] ?? 0
    rollup[bucket] += tokens
    rollup.total_tokens += tokens
  }
}
