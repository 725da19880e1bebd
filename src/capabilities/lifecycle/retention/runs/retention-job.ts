import type { Clock } from '../../../../kernel/time.ts'
import type { Logger, Metrics } from '../../../../platform/telemetry/index.ts'
import type { Job, JobContext, JobHandler, JobValue } from '../../../jobs/index.ts'
import type { RetentionSlice, RetentionStore, RetentionTarget } from '../../../storage/index.ts'
import { type RetentionDb, retentionKind } from '../contract.ts'
import { activeHolds } from '../legal-holds/store.ts'
import type { RetentionRules } from '../retention-policy/rules.ts'
import { retentionTable } from '../retention-policy/store.ts'
import { MissingArchives, readArchives } from './archives.ts'
import {
  addDone,
  beginBucket,
  begunBuckets,
  bucketTotals,
  endAllBuckets,
  endBucket,
  noteKept,
} from './bucket-store.ts'
import {
  emptyBucket,
  type InspectedBucket,
  inspectDays,
  outcomeOf,
  wholeDayReason,
} from './inspect.ts'
import { deleteDueOwners } from './owners.ts'
import { type DueBucket, isDue, type Phase, phases, type RetentionStep } from './plan-steps.ts'
import { deleteSlices, redoSlice, takeOut, withHolds } from './slices.ts'
import { countFutureRows, environmentsFor, survey } from './survey.ts'

export type RetentionJobOptions = {
  db: RetentionDb
  store: RetentionStore
  /** Further stores with copies of some rows, which are deleted after those of `store`. */
  targets?: readonly RetentionTarget[]
  clock: Clock
  logger: Logger
  metrics: Metrics
}

/**
 * Creates the handler of runs, which apply a project's policy, each phase from the oldest day on.
 */
export function retentionHandler(options: RetentionJobOptions): JobHandler {
  const { metrics } = options
  const rows = metrics.counter({
    name: 'looptrace_retention_rows_total',
    help: 'Rows that retention deleted or masked, by kind and action.',
    labels: ['kind', 'action'],
  })
  const count: Count = (kind, action, by) => rows.inc({ kind, action }, by)
  return {
    kind: retentionKind,
    jobs_max: runs_max,
    run: (job, context) => new RetentionRun(options, count, { job, context }).run(),
  }
}

/** Runs of a worker at a time. Stores join the deletions of many runs into one statement. */
const runs_max = 16

type Count = (kind: string, action: string, by: number) => void

/** Most surveys of one phase; each covers a limited number of buckets. */
const surveys_max = 100

class RetentionRun {
  readonly #options: RetentionJobOptions
  readonly #count: Count
  readonly #job: Job
  readonly #context: JobContext
  /** Ages are measured at this instant, even when another worker takes the run over. */
  readonly #now_ms: number
  readonly #missing = new MissingArchives()
  #steps = 0

  constructor(
    options: RetentionJobOptions,
    count: Count,
    { job, context }: { job: Job; context: JobContext },
  ) {
    this.#options = options
    this.#count = count
    this.#job = job
    this.#context = context
    this.#now_ms = Date.parse(job.created_at)
    this.#steps = Number(job.progress?.['steps'] ?? 0)
  }

  async run(): Promise<JobValue> {
    const { db, clock } = this.#options
    if (this.#job.attempt > 1) await this.#endBegun()
    for (const phase of phases) await this.#phase(phase)
    await this.#noteFuture()
    await this.#deleteOwners()
    const archives_requested = await this.#missing.request(db, { job: this.#job, clock })
    await endAllBuckets(db, this.#job.id)
    return {
      as_of: new Date(this.#now_ms).toISOString(),
      ...(await bucketTotals(db, this.#job.id)),
      archives_requested,
    }
  }

  async #phase(phase: Phase): Promise<void> {
    for (let look = 0; look < surveys_max; look += 1) {
      const query = { ...this.#scope, rules: await this.#rules(), phases: [phase] }
      const { steps, is_partial } = await survey(this.#options.store, query)
      let changed = false
      for (const step of steps) changed = (await this.#step(step)) || changed
      if (!is_partial || !changed) return
    }
  }

  get #scope() {
    return { project_id: this.#job.project_id, now_ms: this.#now_ms }
  }

  #rules(): Promise<RetentionRules> {
    return retentionTable.read(this.#options.db, this.#job.project_id)
  }

  /** Deletes from the other stores the rows that a killed run deleted only from the first store. */
  async #endBegun(): Promise<void> {
    const { db, store, targets = [] } = this.#options
    const { project_id } = this.#job
    const { archive_before_delete } = await this.#rules()
    for (const { day, kind, environment, action } of await begunBuckets(db, this.#job.id)) {
      const [holds, archives] = await Promise.all([
        activeHolds(db, project_id),
        readArchives(db, project_id),
      ])
      const bound = { archives, archive_before_delete }
      const slice = redoSlice({ project_id, day, kind, environment, action }, bound)
      if (slice === undefined) continue
      for (const part of (await withHolds(store, slice, holds)).slices) {
        const { signal } = this.#context
        signal.throwIfAborted()
        for (const target of targets) await takeOut(target, action, { slice: part, signal })
      }
    }
  }

  /**
   * Runs a step with the current policy, holds and archives; true when it deleted or masked rows.
   */
  async #step(step: RetentionStep): Promise<boolean> {
    const { db, store } = this.#options
    const { project_id, now_ms } = this.#scope
    this.#context.signal.throwIfAborted()
    const [rules, holds, archives] = await Promise.all([
      this.#rules(),
      activeHolds(db, project_id),
      readArchives(db, project_id),
    ])
    const { archive_before_delete } = rules
    const environments = environmentsFor(rules, now_ms, step)
    const inspection = { store, project_id, holds, archives, archive_before_delete, environments }
    const due = step.buckets.filter((bucket) => isDue(rules, now_ms, { ...step, ...bucket }))
    const reason = wholeDayReason(inspection, step)
    const { bucketOf, slices } =
      reason === null
        ? await inspectDays(inspection, { ...step, days: [step.day] })
        : { bucketOf: () => emptyBucket(reason), slices: [] }
    const going: DueBucket[] = []
    for (const bucket of due) {
      const found = bucketOf(step.day, bucket.environment)
      if (await this.#begin(step, bucket, found)) going.push({ ...bucket, rows: found.rows })
    }
    const named = {
      census_environments: environments,
      environments: going.map((one) => one.environment),
    }
    if (going.length > 0) {
      await this.#takeOut(step.action, deleteSlices({ ...inspection, ...named }, step, slices))
    }
    await this.#end(step, going)
    return going.length > 0
  }

  /** Records the rows that are deleted and that stay; true when any are deleted. */
  async #begin(step: RetentionStep, due: DueBucket, found: InspectedBucket): Promise<boolean> {
    const { db } = this.#options
    const { kind, day } = step
    this.#missing.note(day, found)
    const outcome = outcomeOf(step.action, due, found)
    if (outcome === undefined) return false
    const bucket = { job_id: this.#job.id, day, kind, environment: due.environment, ...outcome }
    if (outcome.action === 'keep') await noteKept(db, bucket)
    else await beginBucket(db, bucket)
    return outcome.action !== 'keep'
  }

  async #takeOut(
    action: RetentionStep['action'],
    slices: AsyncIterable<RetentionSlice>,
  ): Promise<void> {
    const { store, targets = [] } = this.#options
    const { signal } = this.#context
    for await (const slice of slices) {
      for (const target of [store, ...targets]) {
        signal.throwIfAborted()
        await takeOut(target, action, { slice, signal })
      }
    }
  }

  async #end(step: RetentionStep, gone: readonly DueBucket[]): Promise<void> {
    const { day, kind, action } = step
    for (const { environment, rows } of gone) {
      const key = { job_id: this.#job.id, day, kind, environment, action }
      await endBucket(this.#options.db, key)
      this.#count(kind, action, rows)
    }
    this.#steps += 1
    await this.#context.progress({ steps: this.#steps, day })
  }

  async #noteFuture(): Promise<void> {
    const { db, store } = this.#options
    const rules = await this.#rules()
    for (const { day, kind, environment, rows, bytes } of await countFutureRows(store, {
      ...this.#scope,
      rules,
    })) {
      const key = { job_id: this.#job.id, day, kind, environment }
      const kept = { reason: 'in_future', row_count: rows, bytes, held_rows: 0 }
      await noteKept(db, { ...key, ...kept })
    }
  }

  async #deleteOwners(): Promise<void> {
    const { db, store } = this.#options
    const { project_id } = this.#scope
    const query = {
      db,
      store,
      rules: await this.#rules(),
      ...this.#scope,
      holds: () => activeHolds(db, project_id),
    }
    await deleteDueOwners(query, this.#context.signal, async (transaction, buckets) => {
      for (const { day, kind, environment, rows } of buckets) {
        await addDone(transaction, {
          job_id: this.#job.id,
          day,
          kind,
          environment,
          row_count: rows,
        })
        this.#count(kind, 'delete', rows)
      }
    })
  }
}
