import { BoundedCache } from '../../../kernel/bounded-cache.ts'
import type { TaskTables, Transaction } from '../../../platform/relational/index.ts'
import type { LinkedCall } from '../../records/call-task/index.ts'
import type { OwnerChange, RowsToErase, StoredHead, TraceHeads } from '../../storage/index.ts'
import type { ObservationHead } from '../../storage/row-format/index.ts'
import type { IngestMeters } from '../meters.ts'
import { rollUpLeft } from '../roll-up/left-tasks.ts'
import { type RollUpPorts, rollUp } from '../roll-up/roll-up.ts'
import { collectTouched } from '../roll-up/touched.ts'
import { joinedTask } from './batch-traces.ts'
import type { ErasedRows, ErasedTrace } from './erased-rows.ts'
import type { Placed, PlacedChange } from './place-rows.ts'
import { linksOfTraces, type StoredLink } from './recent-links.ts'
import { type ForeignRecord, foreignRecords } from './recent-responses.ts'
import {
  lockTraces,
  type RecentTrace,
  type SettledTrace,
  settleNotes,
  type TraceKey,
  textOf,
} from './recent-traces.ts'

/** Gives stored observations other owners, in a second store. */
export type SetOwners = (project_id: string, changes: readonly OwnerChange[]) => Promise<void>

/** Erases stored observations, in a second store. */
export type EraseRows = (project_id: string, asked: RowsToErase) => Promise<void>

export type SettlePorts = RollUpPorts & {
  meters: Pick<IngestMeters, 'owners'>
  setSecondOwners: SetOwners
  eraseSecondRows: EraseRows
  erased: ErasedRows
}

/** Reads the rows of traces, and returns how they are placed. */
export type Placing = (
  project_id: string,
  asked: TraceHeads,
) => Promise<{ rows: StoredHead[]; place: Place }>

/** Places rows that were read, with what is known of calls in other traces; see `placeRows`. */
type Place = (foreign: readonly ForeignRecord[], linked: readonly LinkedCall[]) => Placed

/** Traces with too many rows to be read with each batch, as far as this process has met them. */
const tooLarge = new BoundedCache<string, true>(10_000)

/** Returns whether a trace has too many rows to be read with each batch. */
export function isTooLarge(trace: TraceKey): boolean {
  return tooLarge.get(textOf(trace)) === true
}

/** The traces whose rows move, and the rows to roll up for. */
export type Moves = {
  heads: readonly ObservationHead[]
  /** Traces whose stored rows are read. */
  asked: readonly TraceKey[]
  /** Traces of which rows were erased, by key. */
  erased: ReadonlyMap<string, ErasedTrace>
  placing: Placing
}

/**
 * The traces are locked first, so that the second of two workers sees what the first has written.
 * Tasks are rolled up in the same transaction: if it does not commit, the traces stay `moving`, and
 * each later worker takes all their rows into account.
 */
export async function moveRows(
  trx: Transaction<TaskTables>,
  ports: SettlePorts,
  { heads, asked, erased, placing }: Moves,
): Promise<void> {
  const moved: Moved = { rows: new Map(), extra: [], left: new Map(), gone: new Set() }
  for (const chunk of chunksByProject(await lockTraces(trx, asked))) {
    const foreign = await foreignRecords(trx, chunk)
    const linked = await linksOfTraces(trx, chunk)
    const settled = await moveTraces(ports, chunk, { moved, foreign, linked, placing })
    await eraseAgain(ports, chunk, { moved, erased })
    if (settled.length > 0) await settleNotes(trx, settled)
  }
  const own = heads.map((head) => moved.rows.get(identityOf(head)) ?? head)
  const inBatch = new Set(own.map(identityOf))
  const extra = moved.extra.filter((head) => !inBatch.has(identityOf(head)))
  const rows = [...own, ...extra].filter((head) => !moved.gone.has(identityOf(head)))
  await rollUp(trx, ports, collectTouched(rows))
  await rollUpLeft(trx, ports, [...moved.left.values()])
}

/** The effects of changes of rows. */
type Moved = {
  /** The rows of the traces as they are now, by identity. */
  rows: Map<string, ObservationHead>
  /** Stored rows that their tasks and conversations have to count. */
  extra: ObservationHead[]
  /** Tasks that rows have left. */
  left: Map<string, { project_id: string; task_id: string }>
  /** Identities of rows that were erased again. */
  gone: Set<string>
}

/** Most rows of traces that are read at once. The rows of a larger trace stay as they are. */
const rows_max = 50_000

type Moving = {
  moved: Moved
  foreign: ForeignRecord[]
  linked: StoredLink[]
  placing: Placing
}

async function moveTraces(
  ports: SettlePorts,
  traces: readonly RecentTrace[],
  about: Moving,
): Promise<SettledTrace[]> {
  const { store, setSecondOwners, meters } = ports
  const { moved, foreign, linked, placing } = about
  const project_id = traces[0]?.project_id ?? ''
  const { rows, place } = await placing(project_id, {
    trace_ids: traces.map(({ trace_id }) => trace_id),
    ...startsOf(traces),
    limit: rows_max,
  })
  if (rows.length === rows_max) return moveFewer(ports, traces, about)
  const { changes, settled } = place(foreign, linked)
  const byTrace = Map.groupBy(rows, ({ trace_id }) => trace_id)
  takeRows(moved, rows, changes)
  for (const trace of traces) {
    // Another worker changes them too, or has ended: this one alone makes 1.
    if (trace.moving > 1) {
      takeAll(moved, byTrace.get(trace.trace_id) ?? [], [
        trace.trace_id,
        ...linked.flatMap((link) => (link.trace_id === trace.trace_id ? [link.task_id] : [])),
      ])
    }
  }
  const written = changes.map(({ row: { start_time, trace_id, observation_id }, to }) => {
    return { start_time, trace_id, observation_id, ...to }
  })
  await store.setOwners(project_id, written)
  await setSecondOwners(project_id, written)
  meters.owners.inc({ result: 'changed' }, changes.length)
  const wanting = new Set(linked.flatMap((link) => (link.is_giver ? [] : [link.trace_id])))
  return traces.map(({ trace_id }) => {
    const bits = settled.get(trace_id) ?? { gives: 0, wants: 0 }
    const own = (byTrace.get(trace_id) ?? []).map((row) => moved.rows.get(identityOf(row)) ?? row)
    return { project_id, trace_id, ...bits, joined_task_id: joinedTask(own, wanting.has(trace_id)) }
  })
}

/** Reads traces one by one that have too many rows together, and gives up those that have alone. */
async function moveFewer(
  ports: SettlePorts,
  traces: readonly RecentTrace[],
  about: Moving,
): Promise<SettledTrace[]> {
  const [only, ...others] = traces
  if (only !== undefined && others.length === 0) {
    tooLarge.set(textOf(only), true)
    ports.meters.owners.inc({ result: 'too_many_rows' }, rows_max)
    const { project_id, trace_id } = only
    // Its rows are not read, so it keeps what is known of them.
    return [{ project_id, trace_id, gives: 0, wants: 0, joined_task_id: only.joined_task_id }]
  }
  const settled: SettledTrace[] = []
  for (const trace of traces) settled.push(...(await moveTraces(ports, [trace], about)))
  return settled
}

/** Returns the first and the last start of the rows of traces. */
function startsOf(traces: readonly RecentTrace[]): { from: bigint; to: bigint } {
  const inOrder = traces
    .flatMap(({ first_start, last_start }) => [first_start, last_start])
    .toSorted((a, b) => (a < b ? -1 : 1))
  return { from: inOrder[0] ?? 0n, to: inOrder.at(-1) ?? 0n }
}

/**
 * Erases rows of erased users again, now that it is known whose they are. Only these rows: others of
 * the trace may be stored since, whose owners are not known yet.
 */
async function eraseAgain(
  { store, eraseSecondRows }: SettlePorts,
  traces: readonly RecentTrace[],
  { moved, erased }: Pick<Moves, 'erased'> & { moved: Moved },
): Promise<void> {
  if (erased.size === 0) return
  const keys = new Set(traces.map(textOf))
  const rows: ObservationHead[] = []
  for (const row of moved.rows.values()) {
    const { project_id, task_id, user_id } = row
    if (!keys.has(textOf(row)) || !erased.get(textOf(row))?.isErased(user_id)) continue
    moved.gone.add(identityOf(row))
    moved.left.set(`${project_id} ${task_id}`, { project_id, task_id })
    rows.push(row)
  }
  if (rows.length === 0) return
  const users = [...new Set(rows.map(({ user_id }) => user_id))].filter((user) => user !== '')
  const project_id = traces[0]?.project_id ?? ''
  await store.eraseRows(project_id, { rows, users })
  await eraseSecondRows(project_id, { rows, users })
}

function takeRows(
  { rows: known, extra, left }: Moved,
  rows: readonly ObservationHead[],
  changes: readonly PlacedChange[],
): void {
  for (const row of rows) known.set(identityOf(row), row)
  for (const { row, to } of changes) {
    const head = { ...row, ...to }
    known.set(identityOf(row), head)
    extra.push(head)
    const { project_id, task_id } = row
    if (to.task_id !== task_id) left.set(`${project_id} ${task_id}`, { project_id, task_id })
  }
}

/** A worker that ended may have changed any owner of the trace without the roll-ups that follow. */
function takeAll(
  { rows: known, extra, left }: Moved,
  rows: readonly ObservationHead[],
  task_ids: readonly string[],
): void {
  for (const row of rows) extra.push(known.get(identityOf(row)) ?? row)
  const project_id = rows[0]?.project_id
  if (project_id === undefined) return
  for (const task_id of task_ids) left.set(`${project_id} ${task_id}`, { project_id, task_id })
}

function identityOf(row: ObservationHead): string {
  return `${row.project_id} ${row.trace_id} ${row.observation_id} ${row.start_time}`
}

/** Maximum traces of one statement: their ids are sent in the URL, at most 1 MiB. */
const traces_max = 5_000

/** Splits traces, which are in the order of their projects, into those of one statement. */
function chunksByProject(traces: readonly RecentTrace[]): RecentTrace[][] {
  const chunks: RecentTrace[][] = []
  for (const trace of traces) {
    const chunk = chunks.at(-1)
    const fits = chunk && chunk.length < traces_max && chunk[0]?.project_id === trace.project_id
    if (fits) chunk.push(trace)
    else chunks.push([trace])
  }
  return chunks
}
