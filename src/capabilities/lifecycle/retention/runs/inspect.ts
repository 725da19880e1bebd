import {
  type BucketCount,
  type HeldBy,
  maxCountBounds,
  type OpenSlice,
  type RetentionSlice,
  type RetentionStore,
} from '../../../storage/index.ts'
import { type Archives, archiveOf } from './archives.ts'
import type { DueBucket, RetentionAction, RetentionStep } from './plan-steps.ts'
import { windowOf, withHolds } from './slices.ts'

/** Reasons why due rows stay. */
export const keepReasons = ['held', 'archive_running', 'archive_missing', 'in_future'] as const
export type KeepReason = (typeof keepReasons)[number]

/** The due rows of a bucket: those that are deleted, and those that stay. */
export type InspectedBucket = {
  /** Rows that are deleted, and their approximate bytes on disk. */
  rows: number
  bytes: number
  held_rows: number
  /** Rows that came after the day was archived. */
  late_rows: number
  /** Why all or some of the rows stay. */
  reason: KeepReason | null
}

/** The store, holds and archives that decide which rows are deleted, at one moment. */
export type Inspection = {
  store: Pick<RetentionStore, 'heldTraces' | 'countBuckets'>
  project_id: string
  holds: readonly HeldBy[]
  archives: Archives
  archive_before_delete: boolean
  /** See `CensusQuery`. */
  environments: readonly string[]
}

/** Days of one kind and action, in order; at most `maxInspectedDays`. */
export type InspectedDays = Pick<RetentionStep, 'kind' | 'action'> & { days: readonly number[] }

export const maxInspectedDays = maxCountBounds

/** The reason why all rows of a day stay; null when some may be deleted. */
export function wholeDayReason(
  { archives, archive_before_delete }: Pick<Inspection, 'archives' | 'archive_before_delete'>,
  { action, day }: Pick<RetentionStep, 'action' | 'day'>,
): 'archive_running' | 'archive_missing' | null {
  const { state } = archiveOf(archives, day)
  if (state === 'running') return 'archive_running'
  const is_bound = action === 'delete' && archive_before_delete
  return is_bound && state === 'missing' ? 'archive_missing' : null
}

/** A bucket without rows that are deleted, for the reason. */
export function emptyBucket(reason: KeepReason | null): InspectedBucket {
  return { rows: 0, bytes: 0, held_rows: 0, late_rows: 0, reason }
}

/** Counted buckets, and the slices whose held traces are known. */
export type Inspected = {
  bucketOf: (day: number, environment: string) => InspectedBucket
  slices: RetentionSlice[]
}

/**
 * Counts the rows of days that are deleted and that stay. The number of statements depends on the
 * number of held traces, not on days or environments.
 */
export async function inspectDays(
  inspection: Inspection,
  selection: InspectedDays,
): Promise<Inspected> {
  const { store, holds, environments } = inspection
  const bounds = boundsOf(inspection, selection)
  const { slices, kept } = await withHolds(store, openSlice(inspection, selection), holds)
  const found = new Map<string, InspectedBucket>()
  for (const slice of slices) {
    for (const bucket of await store.countBuckets({ slice, environments, bounds })) {
      add(found, bucket)
    }
  }
  for (const part of kept) {
    const slice = { ...part, held_trace_ids: [] }
    for (const bucket of await store.countBuckets({ slice, environments, bounds: [] })) {
      add(found, { ...bucket, rows: 0, bytes: 0, held_rows: bucket.rows })
    }
  }
  return {
    slices,
    bucketOf: (day, environment) => found.get(keyOf({ day, environment })) ?? emptyBucket(null),
  }
}

/** The record of a bucket: rows that are deleted, or all rows when the bucket stays. */
export type BucketOutcome = {
  action: RetentionAction | 'keep'
  reason: KeepReason | null
  row_count: number
  bytes: number
  held_rows: number
}

/** Decides what a run does with a bucket; undefined when the bucket has no due row left. */
export function outcomeOf(
  action: RetentionAction,
  due: DueBucket,
  found: InspectedBucket,
): BucketOutcome | undefined {
  const { rows, bytes, reason, held_rows } = found
  if (rows > 0) return { action, reason, row_count: rows, bytes, held_rows }
  if (reason === null) return undefined
  return { action: 'keep', reason, row_count: due.rows, bytes: due.bytes, held_rows }
}

function openSlice({ project_id }: Inspection, { kind, action, days }: InspectedDays): OpenSlice {
  const [first = 0, last = first] = [days[0], days.at(-1)]
  return {
    project_id,
    kind,
    from: windowOf(first).from,
    to: windowOf(last).to,
    ...(action === 'mask' && { with_content: true as const }),
  }
}

/** Returns the bounds of days that must be archived: only archived rows are deleted. */
function boundsOf({ archives, archive_before_delete }: Inspection, selection: InspectedDays) {
  if (selection.action !== 'delete' || !archive_before_delete) return []
  return selection.days.flatMap((day) => {
    const archive = archiveOf(archives, day)
    return archive.state === 'archived' ? { day, stored_before_ms: archive.stored_before_ms } : []
  })
}

function add(found: Map<string, InspectedBucket>, bucket: BucketCount): void {
  const old = found.get(keyOf(bucket)) ?? emptyBucket(null)
  const held_rows = old.held_rows + bucket.held_rows
  const late_rows = old.late_rows + bucket.late_rows
  found.set(keyOf(bucket), {
    rows: old.rows + bucket.rows,
    bytes: old.bytes + bucket.bytes,
    held_rows,
    late_rows,
    reason: held_rows > 0 ? 'held' : late_rows > 0 ? 'archive_missing' : null,
  })
}

function keyOf({ day, environment }: Pick<BucketCount, 'day' | 'environment'>): string {
  return `${day} ${environment}`
}
