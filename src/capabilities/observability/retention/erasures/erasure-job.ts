import type { Clock } from '../../../../kernel/time.ts'
import {
  type Job,
  type JobContext,
  type JobHandler,
  JobRefused,
  type JobValue,
} from '../../jobs/index.ts'
import {
  type HeldBy,
  type RetentionStore,
  type RetentionTarget,
  retentionIds_max,
  type UserCount,
} from '../../stores/index.ts'
import { activeHolds } from '../holds/store.ts'
import type { RetentionDb } from '../retention-deps.ts'
import { readArchives } from '../runs/archives.ts'
import { deleteOwned, endErasure, findErasure } from './store.ts'

/** The kind of the jobs that delete a user's data. */
export const erasureKind = 'erasure'

/** Deletes copies of a user's rows that lie elsewhere than in the stores of observations. */
export type EraseElsewhere = (about: { project_id: string; user_id: string }) => Promise<void>

export type ErasureJobOptions = {
  db: RetentionDb
  store: RetentionStore
  targets?: readonly RetentionTarget[]
  elsewhere?: readonly EraseElsewhere[]
  clock: Clock
}

/** Deletes what is known of a user in every store, and writes the receipt. */
export function erasureHandler(options: ErasureJobOptions): JobHandler {
  return { kind: erasureKind, run: (job, context) => erase(options, job, context) }
}

async function erase(
  { db, store, targets = [], elsewhere = [], clock }: ErasureJobOptions,
  job: Job,
  { progress, signal }: JobContext,
): Promise<JobValue> {
  const { project_id } = job
  const erasure = await findErasure(db, { project_id, id: String(job.params['erasure_id']) })
  if (erasure === undefined) throw new JobRefused('The erasure is not there any more.')
  const { id: erasure_id, user_id, purge } = erasure
  // A run that was killed between the receipt and the end of its job.
  if (user_id === null) return { erasure_id }

  const holds = await activeHolds(db, project_id)
  const held_trace_ids = await heldTracesOf(store, { project_id, user_id }, holds)
  const about = { project_id, user_id, held_trace_ids }
  const counts = new Counts(job)
  let held_rows = 0
  // What was on its way to the store comes while the rest is deleted.
  for (let round = 0; round < rounds_max; round += 1) {
    signal.throwIfAborted()
    const counted = await store.countUser(about)
    held_rows = counted.reduce((all, one) => all + one.held_rows, 0)
    if (round > 0 && counted.every(({ rows, held_rows: held }) => rows === held)) break
    counts.add(counted, round)
    await progress({ counts: counts.all })
    counts.addOwned(await deleteOwnedBy(db, store, { project_id, user_id, holds }))
    await progress({ counts: counts.all })
    for (const target of [store, ...targets]) await target.eraseUser({ ...about, purge }, signal)
    for (const eraseFrom of elsewhere) await eraseFrom(about)
  }
  const { active, succeeded } = await readArchives(db, project_id)
  const receipt = {
    counts: counts.all,
    held_rows,
    purged: purge,
    archives: [...active, ...succeeded].map(({ id }) => id),
  }
  await endErasure(db, erasure_id, { receipt, ended_at: new Date(clock.now_ms()) })
  return { erasure_id }
}

/** The user's traces that something holds. */
async function heldTracesOf(
  store: RetentionStore,
  { project_id, user_id }: { project_id: string; user_id: string },
  holds: readonly HeldBy[],
): Promise<string[]> {
  if (holds.length === 0) return []
  const held = await store.heldTracesOfUser({ project_id, user_id }, holds)
  if (held.length <= retentionIds_max) return held
  throw new JobRefused(
    `More than ${retentionIds_max} traces of the user are held: release holds, and ask again.`,
  )
}

/** What is deleted, by kind; with what an earlier attempt had counted and may have deleted. */
class Counts {
  readonly #before: Record<string, number>
  all: Record<string, number>

  constructor({ progress }: Job) {
    this.#before = { ...((progress?.['counts'] ?? {}) as Record<string, number>) }
    this.all = { tasks: 0, conversations: 0, ...this.#before }
  }

  add(counted: readonly UserCount[], round: number): void {
    for (const { kind, rows, held_rows } of counted) {
      const going = rows - held_rows
      this.all[kind] =
        round === 0 ? Math.max(going, this.#before[kind] ?? 0) : (this.all[kind] ?? 0) + going
    }
  }

  addOwned(owned: Record<'tasks' | 'conversations', number>): void {
    for (const kind of ['tasks', 'conversations'] as const) {
      this.all[kind] = (this.all[kind] ?? 0) + owned[kind]
    }
  }
}

const rounds_max = 3

async function deleteOwnedBy(
  db: RetentionDb,
  store: RetentionStore,
  about: { project_id: string; user_id: string; holds: readonly HeldBy[] },
): Promise<{ tasks: number; conversations: number }> {
  const { project_id, user_id, holds } = about
  const named = (kind: HeldBy['kind']) =>
    holds.filter((hold) => hold.kind === kind).map(({ value }) => value)
  const { task_ids, conversation_ids } =
    holds.length === 0
      ? { task_ids: [], conversation_ids: [] }
      : await store.heldOwners(project_id, holds)
  return deleteOwned(db, {
    ...{ project_id, user_id },
    held_ids: [...task_ids, ...named('task'), ...named('trace')],
    held_talks: [...conversation_ids, ...named('conversation')],
  })
}
