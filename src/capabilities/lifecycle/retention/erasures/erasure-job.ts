import { type Clock, sleep } from '../../../../kernel/time.ts'
import { type Job, type JobContext, type JobHandler, JobRefused } from '../../../jobs/index.ts'
import {
  type ErasureTarget,
  type HeldBy,
  maxRetentionIds,
  type RetentionStore,
  type UserErasure,
} from '../../../storage/index.ts'
import type { RetentionDb } from '../contract.ts'
import { activeHolds } from '../legal-holds/store.ts'
import { buildReceipt } from './receipt.ts'
import { waitForRestores } from './restore-lock.ts'
import {
  archiveRuns,
  deleteOwned,
  type Erasure,
  endErasure,
  findErasure,
  noteTraces,
  noteUnreadable,
  selectTraces,
} from './store.ts'

/** The kind of the jobs that delete a user's data. */
export const erasureKind = 'erasure'

export type ErasureJobOptions = {
  db: RetentionDb
  store: RetentionStore
  /** Further stores of user data: the hot window, findings, restored slices. */
  targets?: readonly ErasureTarget[]
  clock: Clock
  /** The wait for rows that are on their way into the stores. */
  settle_ms?: number
}

/** A worker writes a batch within this time, unless a store is unavailable. */
const settle_ms_usual = 5_000

/** Creates the handler that deletes a user's data in every store and writes the receipt. */
export function erasureHandler(options: ErasureJobOptions): JobHandler {
  return {
    kind: erasureKind,
    run: async (job, context) => {
      const id = String(job.params['erasure_id'])
      const erasure = await findErasure(options.db, { project_id: job.project_id, id })
      if (erasure === undefined) throw new JobRefused('The erasure does not exist.')
      const { user_id } = erasure
      // An attempt that was killed after the receipt was written has deleted everything.
      if (user_id !== null) {
        await new ErasureRun(options, { ...erasure, user_id }, { job, context }).run()
      }
      return { erasure_id: id }
    },
  }
}

/** Most rounds of hiding rows; a round that finds no row is the last. */
const rounds_max = 5

class ErasureRun {
  readonly #options: ErasureJobOptions
  readonly #erasure: Erasure & { user_id: string }
  readonly #context: JobContext
  readonly #counts: ErasedCounts
  readonly #held = new Set<string>()

  constructor(
    options: ErasureJobOptions,
    erasure: Erasure & { user_id: string },
    { job, context }: { job: Job; context: JobContext },
  ) {
    this.#options = options
    this.#erasure = erasure
    this.#context = context
    this.#counts = new ErasedCounts(job)
  }

  /** Hides the rows in all targets before the first of them purges. */
  async run(): Promise<void> {
    const { db, clock, settle_ms = settle_ms_usual } = this.#options
    const { id, project_id, purge } = this.#erasure
    for (let round = 0; round < rounds_max; round += 1) {
      if (round > 0) await sleep(settle_ms, this.#context.signal)
      this.#context.signal.throwIfAborted()
      const hasRows = await this.#hide(round)
      if (round > 0 && !hasRows) break
    }
    await noteUnreadable(db, id, new Date(clock.now_ms()))
    const is_rewritten = purge && (await this.#purge())
    const held_rows = await this.#heldRows()
    const archives = await archiveRuns(db, project_id)
    const ended_at = new Date(clock.now_ms())
    const erased = { counts: this.#counts.all, held_rows, purged: purge, archives, is_rewritten }
    await endErasure(db, id, { receipt: buildReceipt({ ...erased, ended_at }), ended_at })
  }

  /** Hides the rows that the targets have now; true when there were rows. */
  async #hide(round: number): Promise<boolean> {
    const { db, store } = this.#options
    const { project_id, user_id } = this.#erasure
    const { signal, progress } = this.#context
    const holds = await activeHolds(db, project_id)
    await this.#collect(holds)
    await waitForRestores(db, project_id, signal)
    const counted: Record<string, number> = {}
    for await (const { trace_ids } of this.#pages(holds)) {
      for (const { kind, rows } of await store.countUser({ project_id, user_id, trace_ids })) {
        counted[kind] = (counted[kind] ?? 0) + rows
      }
    }
    this.#counts.add(counted, round)
    await progress({ counts: this.#counts.all })
    const owned = await deleteOwnedBy(db, store, { project_id, user_id, holds })
    this.#counts.addOwned(owned)
    await progress({ counts: this.#counts.all })
    for await (const page of this.#pages(holds)) {
      for (const target of this.#targets) await target.eraseUser(page, signal)
    }
    return [...Object.values(counted), ...Object.values(owned)].some((rows) => rows > 0)
  }

  get #targets(): readonly ErasureTarget[] {
    return [this.#options.store, ...(this.#options.targets ?? [])]
  }

  /**
   * Stores the traces of the user that any target has, before rows are deleted: rows without a user
   * are found by their trace, in each target.
   */
  async #collect(holds: readonly HeldBy[]): Promise<void> {
    const { db } = this.#options
    const { project_id, user_id } = this.#erasure
    for (const { tracesOfUser } of this.#targets) {
      for (let after: string | undefined = tracesOfUser && ''; after !== undefined; ) {
        const ids: string[] = (await tracesOfUser?.({ project_id, user_id, after })) ?? []
        await noteTraces(db, this.#erasure, await this.#withoutHeld(ids, holds))
        after = ids.length < maxRetentionIds ? undefined : ids.at(-1)
      }
    }
  }

  /** Yields the stored traces without held ones, in pages; at least one page. */
  async *#pages(holds: readonly HeldBy[]): AsyncGenerator<UserErasure> {
    const { db } = this.#options
    const { project_id, user_id } = this.#erasure
    for (let after: string | undefined, is_last = false; !is_last; ) {
      this.#context.signal.throwIfAborted()
      const page = { after, limit: maxRetentionIds }
      const ids: string[] = await selectTraces(db, this.#erasure, page)
      const trace_ids = await this.#withoutHeld(ids, holds)
      yield { project_id, user_id, trace_ids, held_trace_ids: [...this.#held] }
      after = ids.at(-1)
      is_last = ids.length < maxRetentionIds
    }
  }

  async #withoutHeld(ids: readonly string[], holds: readonly HeldBy[]): Promise<string[]> {
    if (ids.length === 0 || holds.length === 0) return [...ids]
    const { project_id } = this.#erasure
    const held = new Set(await this.#options.store.heldAmong(project_id, ids, holds))
    for (const id of held) this.#held.add(id)
    if (this.#held.size <= maxRetentionIds) return ids.filter((id) => !held.has(id))
    throw new JobRefused(
      `More than ${maxRetentionIds} traces of the user are held. Release holds, then repeat the request.`,
    )
  }

  async #purge(): Promise<boolean> {
    let is_rewritten = false
    const holds = await activeHolds(this.#options.db, this.#erasure.project_id)
    for await (const page of this.#pages(holds)) {
      for (const { purgeUser } of this.#targets) {
        if (await purgeUser?.(page, this.#context.signal)) is_rewritten = true
      }
    }
    return is_rewritten
  }

  async #heldRows(): Promise<number> {
    const { project_id, user_id } = this.#erasure
    const held_trace_ids = [...this.#held]
    let held = 0
    for (const { countHeld } of this.#targets) {
      held += (await countHeld?.({ project_id, user_id, held_trace_ids })) ?? 0
    }
    if (held_trace_ids.length === 0) return held
    const of_traces = { project_id, user_id, trace_ids: held_trace_ids }
    const counted = await this.#options.store.countUser(of_traces)
    return counted.reduce((all, { rows }) => all + rows, held)
  }
}

/** Counts of deleted records by kind, including those that an earlier attempt counted. */
class ErasedCounts {
  readonly #before: Readonly<Record<string, number>>
  readonly all: Record<string, number>

  constructor({ progress }: Pick<Job, 'progress'>) {
    this.#before = { ...((progress?.['counts'] ?? {}) as Record<string, number>) }
    this.all = { tasks: 0, conversations: 0, ...this.#before }
  }

  /** Adds the rows of a round. Those of the first round may include rows of an earlier attempt. */
  add(counted: Readonly<Record<string, number>>, round: number): void {
    for (const [kind, rows] of Object.entries(counted)) {
      this.all[kind] =
        round === 0 ? Math.max(rows, this.#before[kind] ?? 0) : (this.all[kind] ?? 0) + rows
    }
  }

  addOwned(owned: Readonly<Record<'tasks' | 'conversations', number>>): void {
    for (const kind of ['tasks', 'conversations'] as const) {
      this.all[kind] = (this.all[kind] ?? 0) + owned[kind]
    }
  }
}

async function deleteOwnedBy(
  db: RetentionDb,
  store: RetentionStore,
  { project_id, user_id, holds }: { project_id: string; user_id: string; holds: readonly HeldBy[] },
): Promise<{ tasks: number; conversations: number }> {
  const named = (kind: HeldBy['kind']) =>
    holds.filter((hold) => hold.kind === kind).map(({ value }) => value)
  const { task_ids, conversation_ids } =
    holds.length === 0
      ? { task_ids: [], conversation_ids: [] }
      : await store.heldOwners(project_id, holds)
  return deleteOwned(db, {
    project_id,
    user_id,
    held_ids: [...task_ids, ...named('task'), ...named('trace')],
    held_talks: [...conversation_ids, ...named('conversation')],
  })
}
