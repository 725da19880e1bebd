import type { Clock } from '../../../kernel/time.ts'
import { nsFromIso } from '../../../model/list-query.ts'
import type {
  ObservationStore,
  RecordStore,
  TimelineRow,
  TimePosition,
} from '../../storage/index.ts'
import { checkTraceExists } from '../../traces/index.ts'
import type { AnswerContext, RunsDb } from '../contract.ts'
import { RunRefused } from './limits.ts'
import { readAnswer, readAnswerDigest } from './read-answer.ts'
import type { Run, TraceKey } from './store.ts'

/** A trace that has observations. */
export type TraceInStore = {
  project_id: string
  trace_id: string
  task_id: string | null
  user_id: string | null
  environment: string | null
  /** Start of the trace, ISO 8601. */
  trace_start: string
}

/** The stores in which a trace and its answer are found. */
export type TraceStores = {
  db: RunsDb
  clock: Clock
  store: Pick<
    ObservationStore,
    'traceObservations' | 'taskObservations' | 'taskVersions' | 'observationsAt'
  >
  records: Pick<RecordStore, 'traceExists'>
}

/** Returns a trace with its task. Throws `trace_not_found`, `store_unavailable`. */
export async function findTrace(
  { store, records, clock }: Pick<TraceStores, 'store' | 'records' | 'clock'>,
  { project_id, trace_id }: TraceKey,
): Promise<TraceInStore> {
  const [first] = await store.traceObservations(project_id, { trace_id, limit: 1 })
  if (first === undefined) {
    // The events of a trace may arrive before its observations.
    await checkTraceExists(records, project_id, trace_id)
    const trace_start = new Date(clock.now_ms()).toISOString()
    return { project_id, trace_id, task_id: null, user_id: null, environment: null, trace_start }
  }
  const { task_id, user_id, environment, start_time } = first
  return {
    project_id,
    trace_id,
    task_id: task_id || null,
    user_id: user_id || null,
    environment: environment || null,
    trace_start: new Date(Number(start_time / ns_per_ms)).toISOString(),
  }
}

const ns_per_ms = 1_000_000n

/** A task whose last answer is searched. */
export type TaskToVerify = {
  project_id: string
  task_id: string
  started_at: string
  last_started_at: string | null
}

/** Times before the last call of a task from which rows are read, in milliseconds. */
const readBackMs = [0, 60_000, 3_600_000] as const

/**
 * Finds the last answer of a task: its last model call without tool calls, else its last model
 * call. Reads the end of the task first. Returns undefined for a task without model calls.
 */
export async function findAnswer(
  { store }: Pick<TraceStores, 'store'>,
  { project_id, task_id, started_at, last_started_at }: TaskToVerify,
): Promise<TimelineRow | undefined> {
  const first = nsFromIso(started_at) ?? 0n
  const last = nsFromIso(last_started_at ?? '') ?? first
  const starts = readBackMs.map((back_ms) => last - BigInt(back_ms) * ns_per_ms)
  for (const from of [...starts.filter((start) => start > first), first]) {
    const calls = await readModelCalls(store, { project_id, task_id, from })
    const answer = calls.findLast(({ tool_calls }) => tool_calls.length === 0)
    if (answer !== undefined) return answer
    if (from === first) return calls.at(-1)
  }
  return undefined
}

const page_rows = 5_000
const pages_max = 20

async function readModelCalls(
  store: TraceStores['store'],
  { project_id, task_id, from }: { project_id: string; task_id: string; from: bigint },
): Promise<TimelineRow[]> {
  const calls: TimelineRow[] = []
  let after: TimePosition<'observation_id'> | undefined
  for (let page = 0; page < pages_max; page += 1) {
    const more = after === undefined ? {} : { after }
    const rows = await store.taskObservations(project_id, task_id, {
      from,
      limit: page_rows,
      ...more,
    })
    calls.push(...rows.filter(({ type, status }) => type === 'generation' && status === 'ok'))
    after = rows.at(-1)
    if (rows.length < page_rows) break
  }
  return calls
}

/** An answer with what the agent saw, or the error with which a run would fail. */
type AnswerOrFault =
  | { context: AnswerContext; fault: null }
  | { context: null; fault: { code: string; message: string } }

/** Reads the answer of a trace, or returns the error with which a run would fail. */
export async function tryReadAnswer(
  deps: Pick<TraceStores, 'db' | 'store'>,
  trace: TraceInStore,
  signal: AbortSignal,
): Promise<AnswerOrFault> {
  try {
    return { context: await readAnswer(deps, trace, signal), fault: null }
  } catch (error) {
    if (!(error instanceof RunRefused)) throw error
    return { context: null, fault: { code: error.code, message: error.message } }
  }
}

/** Largest tolerated difference between the clocks of the stores, in milliseconds. */
const clocks_ms = 60_000
const versions_max = 10_000

/**
 * Returns whether a trace has another answer since a run: an observation that starts after the
 * answer was stored, and the current answer differs.
 */
export async function isStale(
  deps: Pick<TraceStores, 'db' | 'store'>,
  run: Run,
  signal: AbortSignal,
): Promise<boolean> {
  const { project_id, trace_id, task_id, trace_start, started_at, answer_observation_id } = run
  if (run.state !== 'verified' || task_id === null || answer_observation_id === null) return false
  const versions = await deps.store.taskVersions(project_id, {
    tasks: [{ task_id, from: nsFromIso(trace_start) ?? 0n }],
    stored_from_ms: Date.parse(started_at ?? run.created_at) - clocks_ms,
    limit: versions_max,
  })
  const stored = versions.filter((version) => version.trace_id === trace_id)
  const answer = stored.find(({ observation_id }) => observation_id === answer_observation_id)
  const answered_at = answer?.start_time ?? 0n
  const isLater = stored.some(
    ({ type, start_time, observation_id }) =>
      type !== 'tool' && start_time >= answered_at && observation_id !== answer_observation_id,
  )
  if (!isLater) return false
  try {
    return (await readAnswerDigest(deps, run, signal)) !== run.answer_digest
  } catch (error) {
    if (error instanceof RunRefused) return false
    throw error
  }
}
