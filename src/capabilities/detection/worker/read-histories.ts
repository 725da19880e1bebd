import type { ObservationStore, ObservationVersion } from '../../storage/index.ts'
import type { TaskFacts } from '../findings/tasks-store.ts'
import { spanKey } from '../reconstruction/index.ts'
import { createChunks } from './content-chunks.ts'
import {
  addEventContents,
  type EventCall,
  findLateContents,
  type ReadCalls,
} from './event-contents.ts'
import { TaskHistory } from './task-history.ts'

/** A task whose history is to be updated. */
export type HistoryRequest = {
  project_id: string
  task_id: string
  conversation_id: string
  epoch: string
  /** Lower bound of the starts of its observations, nanoseconds since 1970. */
  from: bigint
  /** Number of model calls in the task's roll-up. */
  calls: number
  /** The history read so far. */
  history: TaskHistory | undefined
  /** Whether observations of the history may be deleted: all versions are compared. */
  is_compared?: boolean
  /** Whether the history keeps the reasoning of answers. */
  keeps_reasoning?: boolean
}

/** A task of the store, and what was read of it. */
type KnownTask = {
  facts: TaskFacts
  /** Epoch of the task's detection. */
  epoch: string
  history: TaskHistory | undefined
}

/** Stored starts are rounded to milliseconds, and spans without a call can start earlier. */
const analysisSlackMs = 60_000

/** Returns the request for the history of a task. */
export function toHistoryRequest({ facts, epoch, history }: KnownTask): HistoryRequest {
  const { project_id, task_id, conversation_id, started_at, calls } = facts
  const from_ms = Math.max(0, Date.parse(started_at) - analysisSlackMs)
  return {
    project_id,
    task_id,
    epoch,
    calls,
    history,
    conversation_id: conversation_id ?? '',
    from: BigInt(from_ms) * 1_000_000n,
  }
}

type Store = Pick<
  ObservationStore,
  'taskVersions' | 'observationsAt' | 'genAiEvents' | 'eventCounts'
>

/** Maximum versions per page, and per task. */
const versions_max = 10_000
const maxTaskVersions = 20_000
/**
 * Rows can become visible a little later than newer ones, so the read overlaps; versions already
 * read cost a row without content.
 */
const overlap_ms = 120_000

/**
 * Updates the histories of tasks of one project, reading the content of new observations only. A
 * history that cannot be extended is rebuilt. Rejects with `store_unavailable`.
 */
export async function readHistories(
  store: Store,
  project_id: string,
  requests: readonly HistoryRequest[],
  options: ReadOptions = {},
): Promise<Map<HistoryRequest, TaskHistory>> {
  const known = requests.filter(({ history }) => history !== undefined)
  const reading = { store, project_id, ...options }
  const fresh = await extendHistories(reading, known)
  const anew = requests.filter((one) => !fresh.has(one))
  const asked = new Map<HistoryRequest, HistoryRequest>(
    anew.map((one) => [{ ...one, history: undefined }, one]),
  )
  for (const [request, history] of await extendHistories(reading, [...asked.keys()])) {
    const one = asked.get(request)
    if (one === undefined) continue
    history.calls_missing = Math.max(0, one.calls - history.calls)
    fresh.set(one, history)
  }
  return fresh
}

type ReadOptions = { signal?: AbortSignal; chunk_bytes?: number }

type Reading = ReadOptions & { store: Store; project_id: string }

/** Returns the histories that could be extended. */
async function extendHistories(
  { store, project_id, signal, chunk_bytes }: Reading,
  requests: readonly HistoryRequest[],
): Promise<Map<HistoryRequest, TaskHistory>> {
  const versions = await readVersions(store, project_id, requests)
  const late = await findLateContents(store, project_id, listEventCalls(requests))
  const { done, wanted } = selectWanted(requests, versions, late)
  const chunks = createChunks(project_id, chunk_bytes)
  for (const chunk of chunks.split(wanted, sizeOf)) {
    signal?.throwIfAborted()
    const places = chunk.map(({ version }) => version)
    const rows = await store.observationsAt(project_id, places, signal)
    chunks.learn(rows)
    const read = await addEventContents(store, project_id, rows)
    const begun = chunk.flatMap(({ begun: one }) => (one === undefined ? [] : [one]))
    const beside = begun.length === 0 ? [] : await store.observationsAt(project_id, begun, signal)
    for (const one of addRows(chunk, { ...read, rows: [...read.rows, ...beside] })) done.delete(one)
  }
  for (const [one, history] of done) if (isMissingCalls(one, history)) done.delete(one)
  return done
}

/** Selects the versions to read, and the histories that need no rebuild so far. */
function selectWanted(
  requests: readonly HistoryRequest[],
  versions: ReadonlyMap<string, readonly ObservationVersion[]>,
  late: ReadonlySet<string>,
) {
  const done = new Map<HistoryRequest, TaskHistory>()
  const wanted: WantedVersion[] = []
  for (const one of requests) {
    const history = one.history ?? new TaskHistory(one, one.epoch, one)
    const all = versions.get(one.task_id) ?? []
    const read = all.slice(0, maxTaskVersions)
    if (read.length < all.length) history.left_out = `observations beyond ${maxTaskVersions}`
    const fresh = history.selectFresh(read)
    if (fresh === 'changed' || isLate(history, late)) continue
    if (one.is_compared === true && history.hasOthers(read)) continue
    history.noteStored(read)
    done.set(one, history)
    const begun = listBegun(read)
    for (const version of fresh) {
      wanted.push({ one, history, version, begun: begun.get(version.observation_id) })
    }
  }
  return { done, wanted }
}

/** Maps records of the proxy that another one counts by the id of that one: it retrieved their response. */
function listBegun(versions: readonly ObservationVersion[]): Map<string, ObservationVersion> {
  const begun = versions.filter((one) => one.counted_with !== '' && one.body_bytes > 0)
  return new Map(begun.map((version) => [version.counted_with, version]))
}

/** Returns the bytes that are read for a version; 0 if unknown. */
function sizeOf({ version, begun }: WantedVersion): { body_bytes: number } {
  const { body_bytes } = version
  return { body_bytes: body_bytes === 0 ? 0 : body_bytes + (begun?.body_bytes ?? 0) }
}

function listEventCalls(requests: readonly HistoryRequest[]): EventCall[] {
  return requests.flatMap(({ history }) => history?.eventCalls() ?? [])
}

/** Tells whether more events came for a call of the history. */
function isLate(history: TaskHistory, late: ReadonlySet<string>): boolean {
  return history.eventCalls().some((place) => late.has(spanKey(place)))
}

type WantedVersion = {
  one: HistoryRequest
  history: TaskHistory
  version: ObservationVersion
  /** The record that began the call in the background whose response this version is. */
  begun: ObservationVersion | undefined
}

/** Returns the requests whose histories must be rebuilt. */
function addRows(chunk: readonly WantedVersion[], { rows, calls }: ReadCalls): HistoryRequest[] {
  const byPlace = new Map(rows.map((row) => [spanKey(row), row]))
  const eventCalls = new Map(calls.map((call) => [spanKey(call), call]))
  const byTask = Map.groupBy(chunk, ({ one }) => one)
  const rowAt = (version: ObservationVersion | undefined) => {
    // Deleted in the meantime, if there is a version and not its row.
    const row = version && byPlace.get(spanKey(version))
    return row === undefined ? [] : [row]
  }
  const rebuilt: HistoryRequest[] = []
  for (const [one, wanted] of byTask) {
    const own = wanted.flatMap(({ version }) => rowAt(version))
    const beside = wanted.flatMap(({ begun }) => rowAt(begun))
    const known = { beside, is_whole: one.history === undefined }
    const history = wanted[0]?.history
    if (own.length === 0 || history === undefined) continue
    if (history.add(own, known) === 'rebuild') rebuilt.push(one)
    else history.addEventCalls(own.flatMap((row) => eventCalls.get(spanKey(row)) ?? []))
  }
  return rebuilt
}

/** Tells whether the roll-up counts calls that are newly missing from this history. */
function isMissingCalls(
  { history: before, calls, is_compared }: HistoryRequest,
  history: TaskHistory,
): boolean {
  if (before === undefined || is_compared === true || history.left_out !== undefined) return false
  return calls - history.calls > history.calls_missing
}

async function readVersions(
  store: Store,
  project_id: string,
  requests: readonly HistoryRequest[],
): Promise<Map<string, ObservationVersion[]>> {
  const byTask = new Map<string, ObservationVersion[]>()
  if (requests.length === 0) return byTask
  const tasks = requests.map(({ task_id, from }) => ({ task_id, from }))
  const stored_from_ms = Math.max(0, getOldestStored(requests) - overlap_ms)
  let after: ObservationVersion | undefined
  for (let read = 0; read <= tasks.length * maxTaskVersions; ) {
    const position = after === undefined ? {} : { after }
    const pageRequest = { tasks, stored_from_ms, ...position, limit: versions_max }
    const page = await store.taskVersions(project_id, pageRequest)
    for (const version of page) {
      const known = byTask.get(version.task_id)
      if (known === undefined) byTask.set(version.task_id, [version])
      else if (known.length <= maxTaskVersions) known.push(version)
    }
    read += page.length
    after = page.at(-1)
    if (page.length < versions_max) break
  }
  return byTask
}

/** Returns the oldest progress of the histories; 0 if all versions are needed. */
function getOldestStored(requests: readonly HistoryRequest[]): number {
  return requests.reduce(
    (least, { history, is_compared }) =>
      Math.min(least, is_compared === true ? 0 : (history?.stored_at_ms ?? 0)),
    Number.MAX_SAFE_INTEGER,
  )
}
