import type { Clock } from '../../../../kernel/time.ts'
import type { Logger, Metrics } from '../../../../platform/telemetry/index.ts'
import type { Job, JobContext, JobHandler, JobValue } from '../../jobs/index.ts'
import type { RetentionStore, RetentionTarget } from '../../stores/index.ts'
import { activeHolds } from '../holds/store.ts'
import { defaultRetention, type RetentionRules } from '../policy/rules.ts'
import { findRetention } from '../policy/store.ts'
import type { RetentionDb } from '../retention-deps.ts'
import { readArchives, requestArchive } from './archives.ts'
import {
  addDone,
  beginBucket,
  bucketTotals,
  endAllBuckets,
  endBucket,
  noteKept,
} from './bucket-store.ts'
import { type InspectedBucket, inspectBucket } from './inspect.ts'
import { deleteDueOwners } from './owners.ts'
import { type DueBucket, isDue, type RetentionStep } from './plan-steps.ts'
import { environmentsFor, futureRows, survey } from './survey.ts'

/** The kind of the jobs that delete what is due. */
export const retentionKind = 'retention'

export type RetentionJobOptions = {
  db: RetentionDb
  store: RetentionStore
  /** Further stores that have some of the rows; they lose theirs first. */
  targets?: readonly RetentionTarget[]
  clock: Clock
  logger: Logger
  metrics: Metrics
}

/** Does what a project's policy says, oldest day first, until nothing is due. */
export function retentionHandler(options: RetentionJobOptions): JobHandler {
  const { metrics } = options
  const rows = metrics.counter({
    name: 'looptrace_retention_rows_total',
    help: 'Rows that retention took out, by kind and action.',
    labels: ['kind', 'action'],
  })
  const count: Count = (kind, action, by) => rows.inc({ kind, action }, by)
  return {
    kind: retentionKind,
    run: (job, context) => new RetentionRun(options, count, { job, context }).run(),
  }
}

type Count = (kind: string, action: string, by: number) => void

/** Times that a run looks again whether more is due; each census tells so many buckets. */
const surveys_max = 100
/** Archives that one run asks for; the days beyond are for the next ones. */
const archives_max = 31

class RetentionRun {
  readonly #options: RetentionJobOptions
  readonly #count: Count
  readonly #job: Job
  readonly #context: JobContext
  /** The run goes by this instant, also when another worker ends it. */
  readonly #now_ms: number
  readonly #asked = new Set<number>()
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
    this.#now_ms = Date.parse(job.started_at ?? job.created_at)
    this.#steps = Number(job.progress?.['steps'] ?? 0)
  }

  async run(): Promise<JobValue> {
    const { db } = this.#options
    for (let look = 0; look < surveys_max; look += 1) {
      const about = { ...this.#about, rules: await this.#rules() }
      const { steps, is_partial } = await survey(this.#options.store, about)
      let changed = false
      for (const step of steps) changed = (await this.#step(step)) || changed
      if (!is_partial || !changed) break
    }
    await this.#noteFuture()
    await this.#deleteOwners()
    await endAllBuckets(db, this.#job.id)
    return {
      as_of: new Date(this.#now_ms).toISOString(),
      ...(await bucketTotals(db, this.#job.id)),
      archives_requested: this.#asked.size,
    }
  }

  get #about() {
    return { project_id: this.#job.project_id, now_ms: this.#now_ms }
  }

  async #rules(): Promise<RetentionRules> {
    return (await findRetention(this.#options.db, this.#job.project_id)) ?? defaultRetention
  }

  /** Policy, holds and archives are those of this moment; true when rows went. */
  async #step(step: RetentionStep): Promise<boolean> {
    const { db, store } = this.#options
    const { project_id, now_ms } = this.#about
    const environments = environmentsFor(await this.#rules(), now_ms, step)
    let changed = false
    for (const bucket of step.buckets) {
      this.#context.signal.throwIfAborted()
      const [rules, holds, archives] = await Promise.all([
        this.#rules(),
        activeHolds(db, project_id),
        readArchives(db, project_id),
      ])
      if (!isDue(rules, now_ms, { ...step, ...bucket })) continue
      const { archive_before_delete } = rules
      const found = await inspectBucket(
        { store, project_id, holds, archives, archive_before_delete, environments },
        step,
        bucket,
      )
      changed = (await this.#settle(step, bucket, found)) || changed
    }
    this.#steps += 1
    await this.#context.progress({ steps: this.#steps, day: step.day })
    return changed
  }

  async #settle(step: RetentionStep, due: DueBucket, found: InspectedBucket): Promise<boolean> {
    const { db } = this.#options
    const { kind, day } = step
    const { environment, reason, held_rows } = found
    const key = { job_id: this.#job.id, day, kind, environment }
    if (reason === 'archive_missing') await this.#askForArchive(day)
    if (found.rows === 0) {
      const { rows: row_count, bytes } = due
      if (reason !== null) await noteKept(db, { ...key, reason, row_count, bytes, held_rows })
      return false
    }
    const { rows: row_count, bytes } = found
    const bucket = { ...key, action: step.action }
    await beginBucket(db, { ...bucket, reason, row_count, bytes, held_rows })
    for (const slice of found.slices) {
      for (const target of [...(this.#options.targets ?? []), this.#options.store]) {
        this.#context.signal.throwIfAborted()
        if (step.action === 'mask') await target.maskContent(slice)
        else await target.deleteRows(slice)
      }
    }
    await endBucket(db, bucket)
    this.#count(kind, step.action, row_count)
    return true
  }

  async #askForArchive(day: number): Promise<void> {
    const { db, clock } = this.#options
    if (this.#asked.has(day) || this.#asked.size >= archives_max) return
    this.#asked.add(day)
    const { id: run_id, project_id } = this.#job
    await requestArchive(db, { project_id, day, run_id, clock })
  }

  async #noteFuture(): Promise<void> {
    const { db, store } = this.#options
    const rules = await this.#rules()
    for (const { day, kind, environment, rows, bytes } of await futureRows(store, {
      ...this.#about,
      rules,
    })) {
      const key = { job_id: this.#job.id, day, kind, environment }
      const kept = { reason: 'in_future', row_count: rows, bytes, held_rows: 0 }
      await noteKept(db, { ...key, ...kept })
    }
  }

  async #deleteOwners(): Promise<void> {
    const { db, store } = this.#options
    const { project_id } = this.#about
    const asked = {
      ...{ db, store, rules: await this.#rules() },
      ...this.#about,
      holds: () => activeHolds(db, project_id),
    }
    await deleteDueOwners(asked, this.#context.signal, async (buckets) => {
      for (const { day, kind, environment, rows } of buckets) {
        await addDone(db, { job_id: this.#job.id, day, kind, environment, row_count: rows })
        this.#count(kind, 'delete', rows)
      }
    })
  }
}
