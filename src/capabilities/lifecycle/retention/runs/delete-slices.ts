import {
  type OpenSlice,
  type RetentionSlice,
  type RetentionStore,
  type RetentionTarget,
  retentionIds_max,
} from '../../../storage/index.ts'
import type { Archives } from './archives.ts'
import { archiveOf } from './archives.ts'
import type { RunBucket } from './bucket-store.ts'
import { type RetentionStep, withoutEnvironment } from './plan-steps.ts'
import { windowOf } from './slices.ts'

/** Most environments of one statement, which are sent as its parameters. */
const environments_max = 200

/** The buckets of a step that are deleted. */
export type DeletedBuckets = {
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
      waiting = trace_ids.splice(retentionIds_max)
      if (trace_ids.length === retentionIds_max) yield { ...slice, trace_ids }
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
    after = ids.length < retentionIds_max ? undefined : ids.at(-1)
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
