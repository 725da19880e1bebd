import type { Clock } from '../../../../kernel/time.ts'
import type { Logger, Metrics } from '../../../../platform/telemetry/index.ts'
import type { Job, JobContext, JobHandler, JobValue } from '../../../jobs/index.ts'
import type {
  OpenSlice,
  RetentionSlice,
  RetentionStore,
  RetentionTarget,
} from '../../../storage/index.ts'
import { activeHolds } from '../holds/store.ts'
import { defaultRetention, type RetentionRules } from '../policy/rules.ts'
import { findRetention } from '../policy/store.ts'
import type { RetentionDb } from '../retention-deps.ts'
import { type Archives, archiveOf, MissingArchives, readArchives } from './archives.ts'
import {
  addDone,
  beginBucket,
  begunBuckets,
  bucketTotals,
  endAllBuckets,
  endBucket,
  noteKept,
  type RunBucket,
} from './bucket-store.ts'
import { deleteSlices } from './delete-slices.ts'
import {
  type InspectedBucket,
  inspectDays,
  outcomeOf,
  untouched,
  wholeDayReason,
} from './inspect.ts'
import { deleteDueOwners } from './owners.ts'
import { type DueBucket, isDue, type Phase, phases, type RetentionStep } from './plan-steps.ts'
import { retentionKind } from './retention-kind.ts'
import { windowOf, withHolds } from './slices.ts'
import { environmentsFor, futureRows, survey } from './survey.ts'

export type RetentionJobOptions = {
  db: RetentionDb
  store: RetentionStore
  /** Further stores that have some of the rows; they lose theirs after the first one. */
  targets?: readonly RetentionTarget[]
  clock: Clock
  logger: Logger
  metrics: Metrics
}

/** Does what a project's policy says, each phase from the oldest day on, until nothing is due. */
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
    jobs_max: runs_max,
    run: (job, context) => new RetentionRun(options, count, { job, context }).run(),
  }
}

/** Runs of a worker at a time. They wait for stores, which make one statement of what many let go. */
const runs_max = 16

type Count = (kind: string, action: string, by: number) => void

/** Times that a run looks again whether more is due; each census tells so many buckets. */
const surveys_max = 100
class RetentionRun {
  readonly #options: RetentionJobOptions
  readonly #count: Count
  readonly #job: Job
  readonly #context: JobContext
  /** The run goes by this instant, also when another worker ends it. */
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
      const about = { ...this.#about, rules: await this.#rules(), phases: [phase] }
      const { steps, is_partial } = await survey(this.#options.store, about)
      let changed = false
      for (const step of steps) changed = (await this.#step(step)) || changed
      if (!is_partial || !changed) return
    }
  }

  get #about() {
    return { project_id: this.#job.project_id, now_ms: this.#now_ms }
  }

  async #rules(): Promise<RetentionRules> {
    return (await findRetention(this.#options.db, this.#job.project_id)) ?? defaultRetention
  }

  /** Of what a killed run took out of the first store there may be copies in the others. */
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
      const slice = redoneSlice({ project_id, day, kind, environment, action }, bound)
      if (slice === undefined) continue
      for (const part of (await withHolds(store, slice, holds)).slices) {
        const { signal } = this.#context
        signal.throwIfAborted()
        for (const target of targets) await takeOut(target, action, { slice: part, signal })
      }
    }
  }

  /** Policy, holds and archives are those of this moment; true when rows went. */
  async #step(step: RetentionStep): Promise<boolean> {
    const { db, store } = this.#options
    const { project_id, now_ms } = this.#about
    this.#context.signal.throwIfAborted()
    const [rules, holds, archives] = await Promise.all([
      this.#rules(),
      activeHolds(db, project_id),
      readArchives(db, project_id),
    ])
    const { archive_before_delete } = rules
    const environments = environmentsFor(rules, now_ms, step)
    const about = { store, project_id, holds, archives, archive_before_delete, environments }
    const due = step.buckets.filter((bucket) => isDue(rules, now_ms, { ...step, ...bucket }))
    const reason = wholeDayReason(about, step)
    const { bucketOf, slices } =
      reason === null
        ? await inspectDays(about, { ...step, days: [step.day] })
        : { bucketOf: () => untouched(reason), slices: [] }
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
      await this.#takeOut(step.action, deleteSlices({ ...about, ...named }, step, slices))
    }
    await this.#end(step, going)
    return going.length > 0
  }

  /** Notes what is about to go, and what stays; true when anything goes. */
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
    await deleteDueOwners(asked, this.#context.signal, async (transaction, buckets) => {
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

function takeOut(
  target: RetentionTarget,
  action: RunBucket['action'],
  { slice, signal }: { slice: RetentionSlice; signal: AbortSignal },
): Promise<void> {
  return action === 'mask' ? target.maskContent(slice, signal) : target.deleteRows(slice, signal)
}

/** The rows of a bucket that was begun; undefined when only the first store has such. */
function redoneSlice(
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
