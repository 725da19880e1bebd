import { z } from 'zod'
import {
  deleteEarlierJobs,
  type Job,
  type JobContext,
  type JobHandler,
  JobRefused,
  type JobValue,
} from '../../../jobs/index.ts'
import type { RetentionStore } from '../../../storage/index.ts'
import { dryRunKind, type RetentionDb } from '../contract.ts'
import { activeHolds } from '../legal-holds/store.ts'
import { type RetentionRules, retentionRulesSchema } from '../retention-policy/rules.ts'
import { MissingArchives, readArchives } from './archives.ts'
import { bucketTotals, forgetBuckets, notePlanned, type PlannedBucket } from './bucket-store.ts'
import {
  emptyBucket,
  type InspectedBucket,
  type Inspection,
  inspectDays,
  maxInspectedDays,
  outcomeOf,
  wholeDayReason,
} from './inspect.ts'
import { countDueOwners } from './owners.ts'
import type { RetentionStep } from './plan-steps.ts'
import { countFutureRows, environmentsFor, survey } from './survey.ts'

export type DryRunJobOptions = { db: RetentionDb; store: RetentionStore }

/** Creates the handler of dry runs, which count the rows a run would delete, mask and keep. */
export function dryRunHandler(options: DryRunJobOptions): JobHandler {
  return {
    kind: dryRunKind,
    jobs_max: runs_max,
    run: (job, context) => new DryRun(options, job, context).run(),
  }
}

/** Dry runs of a worker at a time, so that their reads leave capacity to others. */
const runs_max = 2
/** Dry runs of a project whose records are kept. */
const kept_max = 20
/** Most pages of a census of one kind. */
const pages_max = 20
/** Most buckets of one dry run; with more, its result is partial. */
const buckets_max = 100_000
/** Most rows of one count, because the engine keeps each in memory until it has counted all. */
const maxCountedRows = 5_000_000

class DryRun {
  readonly #options: DryRunJobOptions
  readonly #job: Job
  readonly #context: JobContext
  readonly #rules: RetentionRules
  /** Ages are measured at this instant, even when another worker takes the dry run over. */
  readonly #now_ms: number
  readonly #missing = new MissingArchives()
  #steps = 0
  #noted = 0
  #is_partial = false

  constructor(options: DryRunJobOptions, job: Job, context: JobContext) {
    this.#options = options
    this.#job = job
    this.#context = context
    this.#rules = rulesOf(job)
    this.#now_ms = Date.parse(job.created_at)
  }

  async run(): Promise<JobValue> {
    const { db, store } = this.#options
    const { id, project_id } = this.#job
    await deleteEarlierJobs(db, { project_id, kind: dryRunKind, kept: kept_max })
    await forgetBuckets(db, id)
    const [holds, archives] = await Promise.all([
      activeHolds(db, project_id),
      readArchives(db, project_id),
    ])
    const { archive_before_delete } = this.#rules
    const inspection = { store, project_id, holds, archives, archive_before_delete }
    const { steps, is_partial } = await survey(store, { ...this.#scope, pages_max })
    this.#is_partial = is_partial
    for (const group of groupsOf(steps)) {
      const environments = environmentsFor(this.#rules, this.#now_ms, group[0])
      await this.#count({ ...inspection, environments }, group)
    }
    await this.#countFuture()
    await this.#countOwners(holds)
    return {
      as_of: new Date(this.#now_ms).toISOString(),
      ...(await bucketTotals(db, id)),
      archives_requested: this.#missing.days.length,
      is_partial: this.#is_partial,
    }
  }

  get #scope() {
    return { project_id: this.#job.project_id, rules: this.#rules, now_ms: this.#now_ms }
  }

  /** Counts the steps of one kind and action. */
  async #count(inspection: Inspection, steps: Group): Promise<void> {
    const [{ kind, action }] = steps
    const kept = steps.filter((step) => wholeDayReason(inspection, step) !== null)
    await this.#note(kept, (step) => emptyBucket(wholeDayReason(inspection, step)))
    for (const chunk of chunksOf(
      steps.filter((step) => wholeDayReason(inspection, step) === null),
    )) {
      this.#context.signal.throwIfAborted()
      const days = chunk.map(({ day }) => day)
      const { bucketOf } = await inspectDays(inspection, { kind, action, days })
      await this.#note(chunk, ({ day }, environment) => bucketOf(day, environment))
    }
  }

  async #note(
    steps: readonly RetentionStep[],
    foundOf: (step: RetentionStep, environment: string) => InspectedBucket,
  ): Promise<void> {
    const planned = steps.flatMap((step) =>
      step.buckets.flatMap((due) => {
        const found = foundOf(step, due.environment)
        this.#missing.note(step.day, found)
        const outcome = outcomeOf(step.action, due, found)
        const { day, kind } = step
        return outcome === undefined ? [] : { day, kind, environment: due.environment, ...outcome }
      }),
    )
    await this.#write(planned)
    const last = steps.at(-1)
    if (last === undefined) return
    this.#steps += steps.length
    await this.#context.progress({ steps: this.#steps, day: last.day })
  }

  async #countFuture(): Promise<void> {
    const rows = await countFutureRows(this.#options.store, this.#scope)
    await this.#write(
      rows.map(({ rows: row_count, ...bucket }) => ({
        ...bucket,
        row_count,
        held_rows: 0,
        action: 'keep' as const,
        reason: 'in_future',
      })),
    )
  }

  async #countOwners(holds: Awaited<ReturnType<typeof activeHolds>>): Promise<void> {
    const { db, store } = this.#options
    const buckets = await countDueOwners({ ...this.#scope, db, store, holds: async () => holds })
    await this.#write(
      buckets.map(({ rows: row_count, ...bucket }) => ({
        ...bucket,
        row_count,
        bytes: 0,
        held_rows: 0,
        action: 'delete' as const,
        reason: null,
      })),
    )
  }

  async #write(buckets: readonly PlannedBucket[]): Promise<void> {
    this.#context.signal.throwIfAborted()
    const some = buckets.slice(0, buckets_max - this.#noted)
    if (some.length < buckets.length) this.#is_partial = true
    this.#noted += some.length
    await notePlanned(this.#options.db, this.#job.id, some)
  }
}

function rulesOf({ params }: Job): RetentionRules {
  const read = z.object({ rules: retentionRulesSchema }).safeParse(params)
  if (read.success) return read.data.rules as RetentionRules
  throw new JobRefused('rules: expected the days of a policy')
}

type Group = [RetentionStep, ...RetentionStep[]]

/** Groups steps by kind and action, in the order of their days. */
function groupsOf(steps: readonly RetentionStep[]): Group[] {
  const groups = Map.groupBy(steps, ({ action, kind }) => `${action} ${kind}`)
  return [...groups.values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : [[first, ...others]],
  )
}

/** Groups steps whose days one statement counts. */
function chunksOf(steps: readonly RetentionStep[]): RetentionStep[][] {
  const chunks: RetentionStep[][] = []
  let rows = 0
  for (const step of steps) {
    const chunk = chunks.at(-1)
    const more = step.buckets.reduce((all, bucket) => all + bucket.rows, 0)
    rows += more
    if (chunk && chunk.length < maxInspectedDays && rows <= maxCountedRows) {
      chunk.push(step)
    } else {
      chunks.push([step])
      rows = more
    }
  }
  return chunks
}
