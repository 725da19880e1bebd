import {
  type HeldBy,
  maxRetentionIds,
  type OpenSlice,
  type RetentionSlice,
  type RetentionStore,
  type RetentionTarget,
} from '../../../storage/index.ts'
import { type Archives, archiveOf } from './archives.ts'
import type { RunBucket } from './bucket-store.ts'
import { type RetentionStep, withoutEnvironment } from './plan-steps.ts'

const day_ns = 86_400_000_000_000n

/** Returns the window of a UTC day, in nanoseconds since 1970. */
export function windowOf(day: number): { from: bigint; to: bigint } {
  const from = BigInt(day) * day_ns
  return { from, to: from + day_ns }
}

/**
 * Parts of a slice with their held traces, and parts with more held traces than fit a statement.
 */
type HeldSlices = { slices: RetentionSlice[]; kept: OpenSlice[] }

/**
 * Cuts a slice into parts and reads the held traces of each part. A statement can name a limited
 * number of traces, so parts with more held traces are halve. A part of one millisecond that still
 * has more is kept, so none of its rows is deleted.
 */
export async function withHolds(
  store: Pick<RetentionStore, 'heldTraces'>,
  slice: OpenSlice,
  holds: readonly HeldBy[],
): Promise<HeldSlices> {
  const found: HeldSlices = { slices: [], kept: [] }
  const waiting = [slice]
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    const held_trace_ids = holds.length === 0 ? [] : await store.heldTraces(part, holds)
    if (held_trace_ids.length <= maxRetentionIds) {
      found.slices.push({ ...part, held_trace_ids })
      continue
    }
    const halves = halve(part)
    if (halves === undefined) found.kept.push(part)
    else waiting.push(...halves)
  }
  return found
}

const shortest_ns = 1_000_000n

/** Splits a slice into two without common rows; undefined when it is too short. */
export function halve<Slice extends Pick<OpenSlice, 'from' | 'to'>>(
  slice: Slice,
): [Slice, Slice] | undefined {
  const { from, to } = slice
  if (to - from <= shortest_ns) return undefined
  const middle = middleOf(from, to)
  return [
    { ...slice, from: middle },
    { ...slice, to: middle },
  ]
}

/**
 * Returns the point at which a window is split: at midnight when it has several days. Records count
 * once a day, so a day that is not split has the same counts alone and among others.
 */
function middleOf(from: bigint, to: bigint): bigint {
  const middle = from + (to - from) / 2n
  if (to - from <= day_ns) return middle
  const midnight = (middle / day_ns) * day_ns
  return midnight > from ? midnight : midnight + day_ns
}

/** Most environments of one statement, which are sent as its parameters. */
const environments_max = 200

/** The buckets of a step that are deleted. */
type DeletedBuckets = {
  store: Pick<RetentionStore, 'tracesOf'>
  project_id: string
  archives: Archives
  archive_before_delete: boolean
  /** The `environments` of the step's census. */
  census_environments: readonly string[]
  /** Environments of the buckets that are deleted. */
  environments: readonly string[]
}

/**
 * Yields the slices of a step that are deleted, each for one statement of a store. Rows of kinds
 * without an environment are named by their traces.
 */
export async function* deleteSlices(
  deleted: DeletedBuckets,
  step: Pick<RetentionStep, 'kind' | 'action' | 'day'>,
  slices: readonly RetentionSlice[],
): AsyncGenerator<RetentionSlice> {
  const bound = boundOf(deleted, step)
  for (const slice of slices) {
    const bounded = { ...slice, ...bound }
    if (!withoutEnvironment.has(step.kind)) yield* byEnvironment(deleted, bounded)
    else if (deleted.census_environments.length === 0) yield bounded
    else yield* byTrace(deleted, bounded)
  }
}

function boundOf(
  { archives, archive_before_delete }: DeletedBuckets,
  { action, day }: Pick<RetentionStep, 'action' | 'day'>,
): Pick<RetentionSlice, 'stored_before_ms'> {
  if (action !== 'delete' || !archive_before_delete) return {}
  const archive = archiveOf(archives, day)
  return archive.state === 'archived' ? { stored_before_ms: archive.stored_before_ms } : {}
}

function* byEnvironment(
  { environments }: DeletedBuckets,
  slice: RetentionSlice,
): Generator<RetentionSlice> {
  for (let at = 0; at < environments.length; at += environments_max) {
    yield { ...slice, environments: environments.slice(at, at + environments_max) }
  }
}

/** Yields slices by trace. Each statement scans a partition, so environments share statements. */
async function* byTrace(
  deleted: DeletedBuckets,
  slice: RetentionSlice,
): AsyncGenerator<RetentionSlice> {
  let waiting: string[] = []
  for (const environment of deleted.environments) {
    for await (const ids of tracesOf(deleted, slice, environment)) {
      const trace_ids = [...waiting, ...ids]
      waiting = trace_ids.splice(maxRetentionIds)
      if (trace_ids.length === maxRetentionIds) yield { ...slice, trace_ids }
      else waiting = trace_ids
    }
  }
  if (waiting.length > 0) yield { ...slice, trace_ids: waiting }
}

async function* tracesOf(
  { store, census_environments: environments }: DeletedBuckets,
  slice: OpenSlice,
  environment: string,
): AsyncGenerator<string[]> {
  for (let after: string | undefined = ''; after !== undefined; ) {
    const ids: string[] = await store.tracesOf(slice, { environment, environments, after })
    if (ids.length > 0) yield ids
    after = ids.length < maxRetentionIds ? undefined : ids.at(-1)
  }
}

/** Masks or deletes the rows of a slice in one store. */
export function takeOut(
  target: RetentionTarget,
  action: RunBucket['action'],
  { slice, signal }: { slice: RetentionSlice; signal: AbortSignal },
): Promise<void> {
  return action === 'mask' ? target.maskContent(slice, signal) : target.deleteRows(slice, signal)
}

/**
 * Returns the rows of a bucket that was begun; undefined for kinds that only the first store has.
 */
export function redoSlice(
  bucket: Pick<RunBucket, 'day' | 'kind' | 'environment' | 'action'> & { project_id: string },
  { archives, archive_before_delete }: { archives: Archives; archive_before_delete: boolean },
): OpenSlice | undefined {
  const { project_id, day, kind, environment, action } = bucket
  if (kind !== 'observations' && kind !== 'traces') return undefined
  const slice = { project_id, kind, ...windowOf(day), environments: [environment] } as const
  if (action === 'mask' || !archive_before_delete) return slice
  const archive = archiveOf(archives, day)
  if (archive.state !== 'archived') return undefined
  return { ...slice, stored_before_ms: archive.stored_before_ms }
}
