import { dollarsFrom, nanoDollarsFrom } from '../../../kernel/dollars.ts'
import { isCountedCall } from '../../../model/observation.ts'
import { runInProject } from '../../../platform/tenancy/index.ts'
import type { Owner } from '../../records/ownership/index.ts'
import type {
  RepairStore,
  StoredHead,
  TimelineRow,
  UsageChange,
  UsageColumns,
} from '../../storage/index.ts'
import { batchTraces } from '../traces/batch-traces.ts'
import type { Placing, SettlePorts } from '../traces/move-rows.ts'
import { type Placed, type PlacedChange, placeRows } from '../traces/place-rows.ts'
import { type ForeignRecord, foreignRecords } from '../traces/recent-responses.ts'
import { areMoving } from '../traces/recent-traces.ts'
import { settleAgain } from '../traces/settle-traces.ts'

/** The dependencies of a repair. */
export type RepairPorts = SettlePorts & {
  rows: RepairStore
  readAgain: ReadAgain
  /** Notes that a second store has other usage for observations with these starts. */
  markStale: (project_id: string, starts: readonly bigint[]) => Promise<void>
}

export type RepairAsked = {
  project_id: string
  /** A window of starts, in nanoseconds since 1970: `from` inclusive, `to` exclusive. */
  from?: bigint | undefined
  to?: bigint | undefined
  /** False: only count what would change. */
  is_applied: boolean
  signal: AbortSignal
}

/** Counts of what a repair has changed, or would change. */
export type RepairCounts = {
  traces: number
  observations: number
  /** Observations that get another task, conversation, user or release. */
  owners: number
  /** Those of them whose user or named task is then unknown: it was guessed. */
  owners_unknown: number
  /** Observations that another one counts from now on, or no longer. */
  merged: number
  /** Observations with other tokens or another cost. */
  costs: number
  /** Costs of the counted calls, in billionths of a dollar. */
  nano_before: bigint
  nano_after: bigint
  /** Traces with too many observations, which stay as they are. */
  too_large: number
}

const day_ns = 86_400_000_000_000n
/** Observations of a trace can begin this long before or after those of the window. */
const around_ns = day_ns

const traces_max = 100
const rows_max = 50_000

/** Repairs the rows of a project, day by day. */
export async function repairProject(ports: RepairPorts, asked: RepairAsked): Promise<RepairCounts> {
  const { project_id, from, to, signal } = asked
  const counts = noCounts()
  for (const day of await ports.rows.days(project_id, { from, to })) {
    const start = from !== undefined && from > day ? from : day
    const end = to !== undefined && to < day + day_ns ? to : day + day_ns
    let after: string | undefined
    for (;;) {
      signal.throwIfAborted()
      const page = { from: start, to: end, after, limit: traces_max }
      const trace_ids = await ports.rows.tracesOf(project_id, page)
      if (trace_ids.length === 0) break
      await repairTraces(ports, { ...asked, trace_ids, from: start, to: end }, counts)
      after = trace_ids.at(-1)
    }
  }
  return counts
}

type TracesAsked = RepairAsked & { trace_ids: readonly string[]; from: bigint; to: bigint }

async function repairTraces(
  ports: RepairPorts,
  asked: TracesAsked,
  counts: RepairCounts,
): Promise<void> {
  const { project_id, trace_ids, from, to } = asked
  const rows = await ports.rows.traceRows(project_id, {
    trace_ids,
    from: from - around_ns,
    to: to + around_ns,
    limit: rows_max,
  })
  if (rows.length === rows_max) {
    if (trace_ids.length === 1) counts.too_large += 1
    else
      for (const id of trace_ids) await repairTraces(ports, { ...asked, trace_ids: [id] }, counts)
    return
  }
  const usages = rows.flatMap((row) => usageChange(row, ports.readAgain(row).usage))
  const traces = trace_ids.map((trace_id) => ({ project_id, trace_id }))
  const { foreign, isUnfinished } = await runInProject(project_id, async () => ({
    foreign: await foreignRecords(ports.db, traces),
    // A killed repair has changed rows that no task counts yet.
    isUnfinished: await areMoving(ports.db, traces),
  }))
  const { changes } = placeAgain(rows, foreign, ports.readAgain)
  count(counts, { rows, usages, changes, asked })
  const isChanged = usages.length + changes.length > 0
  if (asked.is_applied && (isChanged || isUnfinished))
    await apply(ports, project_id, { rows, usages })
}

/** A row, and its usage from now on. */
type NewUsage = { row: TimelineRow; to: UsageColumns }

function usageChange(row: TimelineRow, to: UsageColumns): NewUsage[] {
  const isChanged = (Object.keys(to) as (keyof UsageColumns)[]).some(
    (column) => comparable(column, row[column]) !== comparable(column, to[column]),
  )
  return isChanged ? [{ row, to }] : []
}

/** Stores write a decimal with other zeros than we do, and a map in any order. */
function comparable(column: string, value: unknown): string {
  if (column.startsWith('cost_'))
    return typeof value === 'string' ? `${nanoDollarsFrom(value)}` : ''
  if (column !== 'usage_details') return JSON.stringify(value)
  return JSON.stringify(Object.entries(value as object).toSorted())
}

async function apply(
  ports: RepairPorts,
  project_id: string,
  { rows, usages }: { rows: readonly TimelineRow[]; usages: readonly NewUsage[] },
): Promise<void> {
  const written = usages.map(({ row, to }): UsageChange => {
    const { start_time, trace_id, observation_id } = row
    return { start_time, trace_id, observation_id, ...to }
  })
  const change = async () => {
    if (written.length === 0) return
    // Marked before the change, so that a killed repair leaves no old value that counts as new.
    await ports.markStale(
      project_id,
      written.map(({ start_time }) => start_time),
    )
    await ports.rows.setUsage(project_id, written)
  }
  const changed = usages.map(({ row, to }) => ({ ...row, ...to }))
  const placing: Placing = async (...asked) => {
    const read = await ports.rows.traceRows(...asked)
    return { rows: read, place: (foreign) => placeAgain(read, foreign, ports.readAgain) }
  }
  await settleAgain(ports, { traces: batchTraces(rows), change, changed }, placing)
}

type Found = {
  rows: readonly TimelineRow[]
  usages: readonly NewUsage[]
  changes: readonly PlacedChange[]
  asked: TracesAsked
}

/** A trace of two days is met on both: each row is counted on its own day. */
function count(counts: RepairCounts, { rows, usages, changes, asked }: Found): void {
  const isIn = ({ start_time }: { start_time: bigint }) =>
    start_time >= asked.from && start_time < asked.to
  const used = new Map(usages.map(({ row, to }) => [row, to]))
  const moved = new Map(changes.map(({ row, to }) => [row as TimelineRow, to]))
  counts.traces += asked.trace_ids.length
  for (const row of rows.filter(isIn)) {
    const usage = used.get(row)
    const to = moved.get(row)
    counts.observations += 1
    if (usage !== undefined) counts.costs += 1
    if (to !== undefined) countOwner(counts, row, to)
    if (isCountedCall(row)) counts.nano_before += nanoDollarsFrom(row.cost_usd ?? '0')
    const after = { ...row, ...usage, ...to }
    if (isCountedCall(after)) counts.nano_after += nanoDollarsFrom(after.cost_usd ?? '0')
  }
}

function countOwner(counts: RepairCounts, row: TimelineRow, to: PlacedChange['to']): void {
  if (to.counted_with !== row.counted_with) counts.merged += 1
  const { counted_with: _, ...owner } = to
  const fields = Object.keys(owner) as (keyof typeof owner)[]
  if (fields.every((field) => row[field] === owner[field])) return
  counts.owners += 1
  const losesUser = row.user_id !== '' && to.user_id === ''
  if (losesUser || (!row.task_implicit && to.task_implicit)) counts.owners_unknown += 1
}

function noCounts(): RepairCounts {
  return {
    traces: 0,
    observations: 0,
    owners: 0,
    owners_unknown: 0,
    merged: 0,
    costs: 0,
    nano_before: 0n,
    nano_after: 0n,
    too_large: 0,
  }
}

/** Returns counts as they are printed. */
export function shownCounts({ nano_before, nano_after, ...counts }: RepairCounts) {
  return {
    ...counts,
    cost_usd_before: dollarsFrom(nano_before),
    cost_usd_after: dollarsFrom(nano_after),
  }
}

/** Reads a stored row by the rules of today: the owner that it names itself, and its usage. */
export type ReadAgain = (row: TimelineRow) => { owner: Owner; usage: UsageColumns }

/**
 * Finds owners and counted calls of the rows of whole traces from what the rows say themselves; pure.
 * A row that a record of another trace counts stays so: that record is not among the rows.
 */
export function placeAgain(
  rows: readonly TimelineRow[],
  foreign: readonly ForeignRecord[],
  readAgain: ReadAgain,
): Placed {
  const ids = new Set(rows.map(({ trace_id, observation_id }) => `${trace_id} ${observation_id}`))
  const said = rows.map((row): StoredHead => {
    const { owner, usage } = readAgain(row)
    return { ...row, ...usage, ...owner, counted_with: '' }
  })
  const { changes, settled } = placeRows(said, foreign)
  const to = new Map(changes.map((change) => [change.row, change.to]))
  return {
    settled,
    changes: rows.flatMap((row, at): PlacedChange[] => {
      const own = said[at]
      if (own === undefined) return []
      const found = to.get(own) ?? targetOf(own)
      const isElsewhere = row.counted_with !== '' && !ids.has(`${row.trace_id} ${row.counted_with}`)
      const counted_with = isElsewhere ? row.counted_with : found.counted_with
      const target = { ...found, counted_with }
      return isSame(row, target) ? [] : [{ row, to: target }]
    }),
  }
}

type Target = PlacedChange['to']

function targetOf(row: StoredHead): Target {
  const { task_id, task_name, task_implicit, user_id, release, counted_with } = row
  const { conversation_id, conversation_external_id } = row
  const talk = { conversation_id, conversation_external_id }
  return { task_id, task_name, task_implicit, user_id, release, ...talk, counted_with }
}

function isSame(row: StoredHead, target: Target): boolean {
  return (Object.keys(target) as (keyof Target)[]).every((field) => row[field] === target[field])
}
