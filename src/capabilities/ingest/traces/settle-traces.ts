import {
  type Kysely,
  noteChanges,
  type TaskTables,
  type Transaction,
} from '../../../platform/relational/index.ts'
import { runInProjects } from '../../../platform/tenancy/index.ts'
import type { ObservationStore } from '../../storage/index.ts'
import type { ObservationHead } from '../../storage/row-format/index.ts'
import { rollUp } from '../roll-up/roll-up.ts'
import { collectTouched } from '../roll-up/touched.ts'
import { type BatchTrace, batchTraces } from './batch-traces.ts'
import { isTooLarge, type Moves, moveRows, type Placing, type SettlePorts } from './move-rows.ts'
import { placeRows } from './place-rows.ts'
import { type LinkedHead, noteLinks, tracesAlongLinks } from './recent-links.ts'
import { linkedTraces, noteResponses } from './recent-responses.ts'
import {
  noteMoving,
  noteTraces,
  type RecentTrace,
  type TraceKey,
  type TraceTouch,
  textOf,
} from './recent-traces.ts'

/**
 * Finds the owners of the rows of a stored batch, and which rows describe one call, also of earlier
 * rows of their traces, and rolls up their tasks and conversations. Most traces need no look at their
 * stored rows: the notes of `recent_traces` tell. Safe to repeat: what was done is found done, and what
 * a worker left when it ended is made good by the next batch of the trace, at the latest by the
 * repeated one.
 */
export async function settleTraces(
  ports: SettlePorts,
  heads: readonly LinkedHead[],
): Promise<void> {
  if (heads.length === 0) return
  const traces = batchTraces(heads)
  const projects = [...new Set(traces.map(({ project_id }) => project_id))]
  await runInProjects(projects, async () => {
    const answered = await noteResponses(ports.db, heads)
    const { walked, reached } = await noteLinks(ports.db, heads)
    const linked = [...answered, ...reached]
    const erased = await erasedAmong(ports, traces)
    const asked = await ports.db
      .transaction()
      .execute((trx) => noteBatch(trx, ports, { heads, traces, linked, erased }))
    if (asked.length === 0) return
    const near = await linkedTraces(ports.db, asked)
    // A span gives its owner to the record of its call, and that to the retrieval of its response.
    const far = await linkedTraces(ports.db, near)
    const others = asked.filter((trace) => !walked.has(textOf(trace)))
    const along = await tracesAlongLinks(ports.db, others)
    const all = uniqueTraces([...asked, ...near, ...far, ...along])
    await noteMoving(ports.db, all)
    const batch = { heads, asked: all, erased, placing: placingOf(ports.store) }
    await ports.db.transaction().execute(async (trx) => {
      await moveRows(trx, ports, batch)
      await noteTracesChanged(trx, uniqueTraces([...traces, ...all]))
    })
  })
}

/** Notes that the rows of traces changed, for streams of events. */
function noteTracesChanged(trx: Kysely<TaskTables>, traces: readonly TraceKey[]): Promise<void> {
  const changes = traces.map(({ project_id, trace_id: id }) => ({
    project_id,
    id,
    kind: 'trace' as const,
  }))
  return noteChanges(trx, changes)
}

function placingOf(store: ObservationStore): Placing {
  return async (project_id, asked) => {
    const rows = await store.traceHeads(project_id, asked)
    return { rows, place: (foreign, linked) => placeRows(rows, foreign, linked) }
  }
}

/** A change of stored rows of traces, after which they are settled. */
type RowChange = {
  traces: readonly TraceTouch[]
  /** Makes the change, once the traces are noted as `moving`. */
  change: () => Promise<void>
  /** The changed rows, whose tasks and conversations are counted again. */
  changed: readonly ObservationHead[]
}

/** Changes rows of stored traces, and settles all of their rows again. Safe to repeat, and beside workers. */
export async function settleAgain(
  ports: SettlePorts,
  { traces, change, changed }: RowChange,
  placing: Placing,
): Promise<void> {
  const projects = [...new Set(traces.map(({ project_id }) => project_id))]
  await runInProjects(projects, async () => {
    const erased = await erasedAmong(ports, traces)
    await ports.db.transaction().execute((trx) => noteTraces(trx, traces))
    await noteMoving(ports.db, traces)
    await change()
    const batch = { heads: changed, asked: traces, erased, placing }
    await ports.db.transaction().execute((trx) => moveRows(trx, ports, batch))
  })
}

async function erasedAmong(ports: SettlePorts, traces: readonly TraceKey[]) {
  const erased = await ports.erased.tracesAmong(traces)
  return new Map(erased.map((trace) => [textOf(trace), trace]))
}

type NewBatch = Pick<Moves, 'heads' | 'erased'> & {
  traces: readonly BatchTrace[]
  /** Traces that have a call together with the batch, or one that a link leads to. */
  linked: readonly TraceKey[]
}

/**
 * Notes the traces of the batch, and returns those to read. Without any, the roll-ups follow in the
 * same transaction. They take the owners of rows from the batch, and no other worker changes these
 * owners before the transaction commits.
 */
async function noteBatch(
  trx: Transaction<TaskTables>,
  ports: SettlePorts,
  { heads, traces, linked, erased }: NewBatch,
): Promise<TraceKey[]> {
  const known = await noteTraces(trx, traces)
  const changed = new Set(traces.filter(({ has_changes }) => has_changes).map(textOf))
  const asked = known.filter((trace) => {
    const key = textOf(trace)
    return needsLook(trace) || changed.has(key) || erased.has(key)
  })
  const all = uniqueTraces([...asked, ...linked])
  if (all.length === 0) {
    await rollUp(trx, ports, collectTouched(heads))
    await noteTracesChanged(trx, traces)
  }
  return all
}

function uniqueTraces(traces: readonly TraceKey[]): TraceKey[] {
  return [...new Map(traces.map((trace) => [textOf(trace), trace])).values()]
}

/** A stored row may have an ancestor since this batch, or a row of this batch a stored one. */
function needsLook(trace: RecentTrace): boolean {
  const { is_new, moving, gives, wants } = trace
  if (isTooLarge(trace)) return false
  return moving > 0 || (!is_new && (gives & wants) !== 0)
}
