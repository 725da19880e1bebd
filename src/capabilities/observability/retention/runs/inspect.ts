import type { HeldBy, OpenSlice, RetentionSlice, RetentionStore } from '../../stores/index.ts'
import { type Archives, archiveOf } from './archives.ts'
import type { DueBucket, RetentionStep } from './plan-steps.ts'
import { windowOf, withHolds } from './slices.ts'

/** Why rows that are due stay. */
export const keepReasons = ['held', 'archive_running', 'archive_missing', 'in_future'] as const
export type KeepReason = (typeof keepReasons)[number]

/** A bucket of a step as it stands: what goes, in which slices, and what stays for which reason. */
export type InspectedBucket = {
  environment: string
  rows: number
  bytes: number
  held_rows: number
  /** Why all of it stays, or what is left of it. */
  reason: KeepReason | null
  slices: RetentionSlice[]
}

/** What a bucket is looked at with; holds and archives as they are at this moment. */
export type Inspection = {
  store: RetentionStore
  project_id: string
  holds: readonly HeldBy[]
  archives: Archives
  archive_before_delete: boolean
  /** See `CensusQuery`. */
  environments: readonly string[]
}

/** Says what a step would do with one of its buckets now. */
export async function inspectBucket(
  about: Inspection,
  step: RetentionStep,
  { environment }: Pick<DueBucket, 'environment'>,
): Promise<InspectedBucket> {
  const found: InspectedBucket = {
    ...{ environment, rows: 0, bytes: 0, held_rows: 0, reason: null },
    slices: [],
  }
  const archive = archiveOf(about.archives, step.day)
  if (archive.state === 'running') return { ...found, reason: 'archive_running' }
  const must_be_archived = step.action === 'delete' && about.archive_before_delete
  if (must_be_archived && archive.state === 'missing') {
    return { ...found, reason: 'archive_missing' }
  }
  const bound_ms =
    must_be_archived && archive.state === 'archived' ? archive.stored_before_ms : undefined
  let late_rows = 0
  for await (const part of partsOf(about, openSlice(about, step, environment), environment)) {
    late_rows += await lookAt(about, { part, bound_ms }, found)
  }
  if (late_rows > 0) found.reason = 'archive_missing'
  if (found.held_rows > 0) found.reason = 'held'
  return found
}

/** Adds a part to what was found; resolves with its rows that came after the archive was made. */
async function lookAt(
  { store, holds }: Inspection,
  { part, bound_ms }: { part: OpenSlice; bound_ms: number | undefined },
  found: InspectedBucket,
): Promise<number> {
  let late_rows = 0
  const { slices, kept } = await withHolds(store, part, holds)
  for (const whole of slices) {
    const slice = bound_ms === undefined ? whole : { ...whole, stored_before_ms: bound_ms }
    const { rows, bytes } = await store.count(slice)
    found.rows += rows
    found.bytes += bytes
    if (rows > 0) found.slices.push(slice)
    const free_rows = bound_ms === undefined ? rows : (await store.count(whole)).rows
    late_rows += Math.max(0, free_rows - rows)
    found.held_rows += await heldRows(store, whole, free_rows)
  }
  for (const slice of kept) {
    found.held_rows += (await store.count({ ...slice, held_trace_ids: [] })).rows
  }
  return late_rows
}

function openSlice(about: Inspection, step: RetentionStep, environment: string): OpenSlice {
  const { project_id } = about
  return {
    ...{ project_id, kind: step.kind, ...windowOf(step.day) },
    ...(hasEnvironment(step) && { environments: [environment] }),
    ...(step.action === 'mask' && { with_content: true as const }),
  }
}

function hasEnvironment({ kind }: Pick<RetentionStep, 'kind'>): boolean {
  return kind === 'observations' || kind === 'traces'
}

/** The slice itself, or for a kind whose environment is its trace's groups of those traces. */
async function* partsOf(
  { store, environments }: Inspection,
  slice: OpenSlice,
  environment: string,
): AsyncGenerator<OpenSlice> {
  if (hasEnvironment(slice) || environments.length === 0) {
    yield slice
    return
  }
  for (let after = ''; ; ) {
    const trace_ids = await store.tracesOf(slice, { environment, environments, after })
    const last = trace_ids.at(-1)
    if (last === undefined) return
    yield { ...slice, trace_ids }
    after = last
  }
}

async function heldRows(store: RetentionStore, slice: RetentionSlice, rows: number) {
  if (slice.held_trace_ids.length === 0) return 0
  const all = await store.count({ ...slice, held_trace_ids: [] })
  return Math.max(0, all.rows - rows)
}
