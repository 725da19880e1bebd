import { setImmediate as nextTurn } from 'node:timers/promises'
import { backOff } from '../../../kernel/back-off.ts'
import { newId } from '../../../kernel/ids.ts'
import { Problem } from '../../../kernel/problem.ts'
import { sleep } from '../../../kernel/time.ts'
import {
  isRelationalUnavailable,
  pollingWakes,
  type Wakes,
} from '../../../platform/relational/index.ts'
import type { Logger, Metrics } from '../../../platform/telemetry/index.ts'
import { runInInstallation, runInProject, runInProjects } from '../../../platform/tenancy/index.ts'
import type { Finding, FindingChanges } from '../findings/finding.ts'
import type { JudgingPlan } from '../findings/findings-store.ts'
import {
  type ClaimedTask,
  claimDue,
  countDue,
  findTasks,
  postpone,
  releaseClaims,
  type TaskFacts,
} from '../findings/tasks-store.ts'
import { writeResult } from '../findings/write-result.ts'
import type { DetectionDb, DetectionPorts } from '../ports.ts'
import { type EffectiveSettings, findEffectiveSettings } from '../settings/detector-settings.ts'
import { analyseTasks, type TaskAnalysis } from './analyse-tasks.ts'
import type { DetectionMeters, DetectionWork } from './detection-work.ts'
import type { HistoryCache } from './task-history.ts'

/** Due tasks counted for the gauge; the gauge stops at this number. */
const maxCountedDue = 10_000

/**
 * Analyses tasks as they become due, until it is stopped. Several processes can run it: each claims
 * some tasks under a lease. The tasks of a killed process are due again when its lease expires.
 */
export function startWorker(ports: WorkPorts & { metrics: Metrics }): { stop(): Promise<void> } {
  const { db, logger, metrics, settings, cache, wakes = pollingWakes() } = ports
  watchDue(db, metrics, cache)
  const [waker, stopping] = [wakes.waker('detection'), new AbortController()]
  const loop = async () => {
    while (!stopping.signal.aborted) {
      const start_ms = performance.now()
      const done = await analyseDue(ports, stopping.signal).then(
        (hadTasks) => (hadTasks ? 'worked' : 'idle'),
        (error: unknown) => {
          logger.warn({ err: error }, 'analysing due tasks failed; they stay due')
          return 'failed' as const
        },
      )
      const took_ms = performance.now() - start_ms
      ports.meters.busy.inc(took_ms / 1_000)
      cache.dropIdle(ports.clock.now_ms())
      // After a large task the others do not wait longer than after a full batch.
      const busy_ms = Math.min(took_ms, settings.batch_ms_max)
      const rest_ms = (busy_ms * (1 - settings.busy_share)) / settings.busy_share
      if (done === 'idle') await waker.wait(settings.poll_ms, stopping.signal)
      else if (done === 'failed') await sleep(settings.retry_ms, stopping.signal)
      else await sleep(rest_ms, stopping.signal)
    }
  }
  const ended = loop()
  return {
    stop: async () => {
      stopping.abort()
      await ended
    },
  }
}

/**
 * Claims some due tasks and analyses them project by project; false when no task is due. Projects
 * with few tasks come first, and a batch that takes long gives its remaining tasks back, so that
 * large tasks of one project delay the others little.
 */
async function analyseDue(ports: WorkPorts, stopping: AbortSignal): Promise<boolean> {
  const { db, settings } = ports
  const started_ms = performance.now()
  const isOver = () => stopping.aborted || performance.now() - started_ms >= settings.batch_ms_max
  const claim = newId()
  const { lease_ms, claim_tasks_max: limit } = settings
  const claimed = await runInInstallation('projects take turns with their tasks', () =>
    claimDue(db, { claim, lease_ms, limit }),
  )
  if (claimed.length === 0) return false
  try {
    const byProject = Map.groupBy(claimed, ({ project_id }) => project_id)
    const groups = [...byProject].toSorted(([, a], [, b]) => a.length - b.length)
    for (const [at, [project_id, tasks]] of groups.entries()) {
      if (at > 0 && isOver()) break
      await runInProject(project_id, () => analyseClaimed(ports, { project_id, tasks, isOver }))
    }
  } finally {
    // Releases the tasks that were not analysed; if this fails too, their lease expires.
    await runInProjects(
      claimed.map(({ project_id }) => project_id),
      () => releaseClaims(db, claimed),
    )
  }
  return true
}

function watchDue(db: DetectionDb, metrics: Metrics, cache: HistoryCache): void {
  metrics.gauge({
    name: 'looptrace_detection_due_tasks',
    help: 'Tasks due for analysis, over all processes; counted up to 10,000.',
    collect: async (gauge) => gauge.set((await countDue(db, maxCountedDue)).tasks),
  })
  metrics.gauge({
    name: 'looptrace_detection_cache_bytes',
    help: 'Approximate memory of the task histories that this process caches.',
    collect: (gauge) => gauge.set(cache.bytes),
  })
}

/** Ports for analysing claimed tasks. */
type WorkPorts = DetectionPorts & {
  cache: HistoryCache
  meters: DetectionMeters
  logger: Logger
  settings: DetectionWork
  wakes?: Wakes | undefined
  /** Plans the judge's questions about a task; undefined without a judge. */
  planJudging?: (analysis: TaskAnalysis) => JudgingPlan | undefined
}

/**
 * Analyses claimed tasks of one project and writes the results. A failing task is postponed and
 * does not affect the others. Rejects when a store is unavailable; the claims then expire.
 */
async function analyseClaimed(
  ports: WorkPorts,
  { project_id, tasks: claimed, isOver }: ClaimedGroup,
): Promise<void> {
  const ids = claimed.map(({ task_id }) => task_id)
  const [facts, settings] = await Promise.all([
    findTasks(ports.db, project_id, ids),
    findEffectiveSettings(ports.db, project_id),
  ])
  const factsOf = new Map(facts.map((one) => [one.task_id, one]))
  const existing = claimed.flatMap((task) => {
    const known = factsOf.get(task.task_id)
    return known === undefined ? [] : [{ task, facts: known }]
  })
  for (const [at, chunk] of chunksOf(existing).entries()) {
    if (at > 0 && isOver()) return
    await analyseChunk(ports, chunk, settings)
  }
}

/** Claimed tasks of a project; `isOver` tells whether the batch has taken its time. */
type ClaimedGroup = {
  project_id: string
  tasks: readonly ClaimedTask[]
  isOver: () => boolean
}

/** Calls of tasks that are read and analysed together; a larger task is a chunk of its own. */
const chunk_calls = 200

/** Splits tasks into chunks, which have at least one task each. */
function chunksOf(tasks: readonly ClaimedFacts[]): ClaimedFacts[][] {
  const chunks: ClaimedFacts[][] = []
  let calls = 0
  for (const one of tasks) {
    calls += one.facts.calls
    const chunk = chunks.at(-1)
    if (chunk !== undefined && calls <= chunk_calls) chunk.push(one)
    else {
      chunks.push([one])
      calls = one.facts.calls
    }
  }
  return chunks
}

async function analyseChunk(
  ports: WorkPorts,
  existing: readonly ClaimedFacts[],
  settings: EffectiveSettings,
): Promise<void> {
  try {
    await analyseTogether(ports, existing, settings)
  } catch (error) {
    if (isOutage(error)) throw error
    if (existing.length === 1) return postponeFailed(ports, existing[0]?.task, error)
    // One task is at fault: analyse each on its own, so that the others succeed.
    for (const one of existing) {
      await analyseTogether(ports, [one], settings).catch((cause: unknown) => {
        if (isOutage(cause)) throw cause
        return postponeFailed(ports, one.task, cause)
      })
    }
  }
}

function isOutage(error: unknown): boolean {
  if (error instanceof Problem) return error.code === 'store_unavailable'
  return isRelationalUnavailable(error)
}

/** Maximum concurrent writes, because each mostly waits for the store. */
const writes_max = 4

type ClaimedFacts = { task: ClaimedTask; facts: TaskFacts }

async function analyseTogether(
  ports: WorkPorts,
  tasks: readonly ClaimedFacts[],
  { version, settings }: EffectiveSettings,
): Promise<void> {
  const { cache, clock, meters } = ports
  const start_ms = clock.now_ms()
  const analyses = await analyseTasks(
    ports,
    tasks.map(({ task, facts }) => {
      const history = cache.take(task, task.epoch)
      meters.rebuilt.inc({ how: history === undefined ? 'anew' : 'on' })
      return { facts, epoch: task.epoch, history, settings }
    }),
  )
  const took_ms = (clock.now_ms() - start_ms) / Math.max(1, analyses.length)
  for (let at = 0; at < analyses.length; at += writes_max) {
    const writes = analyses.slice(at, at + writes_max).flatMap((analysed) => {
      const claim = tasks.find(({ facts }) => facts === analysed.facts)
      return claim === undefined
        ? []
        : [writeAnalysis(ports, { ...claim, analysed, version, took_ms })]
    })
    // Waits for all writes, even if one fails, before any is repeated.
    const failure = (await Promise.allSettled(writes)).find(({ status }) => status === 'rejected')
    if (failure?.status === 'rejected') throw failure.reason
    await nextTurn()
  }
  const seen = new Set(analyses.map(({ facts }) => facts))
  for (const { task, facts } of tasks) {
    if (!seen.has(facts)) await postponeFailed(ports, task, new TaskChanged(facts.task_id))
  }
}

/** The observations of a task changed again while they were re-read. */
class TaskChanged extends Error {
  override readonly name = 'TaskChanged'
}

type AnalysedTask = ClaimedFacts & { analysed: TaskAnalysis; version: number; took_ms: number }

async function writeAnalysis(
  ports: WorkPorts,
  { task, analysed, version, took_ms }: AnalysedTask,
): Promise<void> {
  const { db, clock, cache, meters, logger, settings } = ports
  const rest_ms = Math.max(settings.rest_ms, took_ms * settings.rest_factor)
  for (const { detector, error } of analysed.analysis.failed) {
    meters.detectorFailures.inc({ detector })
    const { project_id, task_id } = task
    logger.error({ err: error, detector, project_id, task_id }, 'a detector failed')
  }
  const written = await writeResult(ports, {
    ...analysed,
    snapshot: task,
    settings_version: version,
    detected_at: new Date(clock.now_ms()).toISOString(),
    rest_ms,
    judging: ports.planJudging?.(analysed),
  })
  meters.tasks.inc({ result: written.outcome })
  if (written.outcome === 'gone') return
  if (written.outcome === 'stale') return postpone(db, task, { delay_ms: 0, failed: false })
  cache.keep(task, analysed.history, clock.now_ms())
  meters.lag.observe(Math.max(0, clock.now_ms() - Date.parse(task.due_at)) / 1_000)
  countChanges(meters, written.changes, written.changed)
}

function countChanges(
  meters: DetectionMeters,
  changes: FindingChanges,
  changed: readonly Finding[],
): void {
  const kinds = new Map(changed.map(({ finding_id, kind }) => [finding_id, kind]))
  for (const change of ['opened', 'updated', 'recovered', 'withdrawn'] as const) {
    for (const id of changes[change]) meters.findings.inc({ kind: kinds.get(id) ?? '', change })
  }
}

async function postponeFailed(
  { db, meters, logger, settings }: WorkPorts,
  task: ClaimedTask | undefined,
  error: unknown,
): Promise<void> {
  if (task === undefined) return
  const { project_id, task_id, failures } = task
  const isOver = failures + 1 >= settings.failures_max
  const { retry_ms: base_ms, retry_ms_max: max_ms } = settings
  const delay_ms = backOff({ base_ms, max_ms }, failures + 1)
  logger.warn({ err: error, project_id, task_id, failures }, 'analysing a task failed')
  meters.tasks.inc({ result: isOver ? 'failed' : 'put_off' })
  await postpone(db, task, { delay_ms: isOver ? null : delay_ms, failed: true })
}
