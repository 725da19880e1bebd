import { setImmediate as nextTurn } from 'node:timers/promises'
import { backOff } from '../../../kernel/back-off.ts'
import { Problem } from '../../../kernel/problem.ts'
import { isRelationalUnavailable } from '../../../platform/relational/index.ts'
import type { Logger } from '../../../platform/telemetry/index.ts'
import type { JudgingPlan } from '../findings/detections-store.ts'
import { type ClaimedTask, postpone } from '../findings/due-tasks.ts'
import type { Finding, FindingChanges } from '../findings/finding.ts'
import { findTasks, type TaskFacts } from '../findings/tasks-store.ts'
import { writeResult } from '../findings/write-result.ts'
import type { DetectionPorts } from '../ports.ts'
import { type EffectiveSettings, findEffectiveSettings } from '../settings/detector-settings.ts'
import { analyseTasks, type TaskAnalysis } from './analyse-tasks.ts'
import type { DetectionMeters, DetectionWork } from './detection-work.ts'
import type { HistoryCache } from './task-history.ts'

/** Ports for analysing claimed tasks. */
export type WorkPorts = DetectionPorts & {
  cache: HistoryCache
  meters: DetectionMeters
  logger: Logger
  settings: DetectionWork
  /** Plans the judge's questions about a task; undefined without a judge. */
  planJudging?: (analysis: TaskAnalysis) => JudgingPlan | undefined
}

/**
 * Analyses claimed tasks of one project and writes the results. A failing task is postponed and
 * does not affect the others. Rejects when a store is unavailable; the claims then expire.
 */
export async function analyseClaimed(
  ports: WorkPorts,
  project_id: string,
  claimed: readonly ClaimedTask[],
): Promise<void> {
  const ids = claimed.map(({ task_id }) => task_id)
  const [facts, settings] = await Promise.all([
    findTasks(ports.db, project_id, ids),
    findEffectiveSettings(ports.db, project_id),
  ])
  const factsOf = new Map(facts.map((one) => [one.task_id, one]))
  const there = claimed.flatMap((task) => {
    const known = factsOf.get(task.task_id)
    return known === undefined ? [] : [{ task, facts: known }]
  })
  try {
    await analyseTogether(ports, there, settings)
  } catch (error) {
    if (isOutage(error)) throw error
    if (there.length === 1) return postponeFailed(ports, there[0]?.task, error)
    // One task is at fault: analyse each on its own, so that the others succeed.
    for (const one of there) {
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

type Claimed = { task: ClaimedTask; facts: TaskFacts }

async function analyseTogether(
  ports: WorkPorts,
  tasks: readonly Claimed[],
  { version, settings }: EffectiveSettings,
): Promise<void> {
  const { cache, clock, meters } = ports
  const start_ms = clock.now_ms()
  const looks = await analyseTasks(
    ports,
    tasks.map(({ task, facts }) => {
      const history = cache.take(task, task.epoch)
      meters.rebuilt.inc({ how: history === undefined ? 'anew' : 'on' })
      return { facts, epoch: task.epoch, history, settings }
    }),
  )
  const took_ms = (clock.now_ms() - start_ms) / Math.max(1, looks.length)
  for (let at = 0; at < looks.length; at += writes_max) {
    const writes = looks.slice(at, at + writes_max).flatMap((look) => {
      const claim = tasks.find(({ facts }) => facts === look.facts)
      return claim === undefined ? [] : [writeAnalysis(ports, { ...claim, look, version, took_ms })]
    })
    // Waits for all writes, even if one fails, before any is repeated.
    const failure = (await Promise.allSettled(writes)).find(({ status }) => status === 'rejected')
    if (failure?.status === 'rejected') throw failure.reason
    await nextTurn()
  }
  const seen = new Set(looks.map(({ facts }) => facts))
  for (const { task, facts } of tasks) {
    if (!seen.has(facts)) await postponeFailed(ports, task, new TaskChanged(facts.task_id))
  }
}

/** The observations of a task changed again while they were re-read. */
class TaskChanged extends Error {
  override readonly name = 'TaskChanged'
}

type AnalysedTask = Claimed & { look: TaskAnalysis; version: number; took_ms: number }

async function writeAnalysis(
  ports: WorkPorts,
  { task, look, version, took_ms }: AnalysedTask,
): Promise<void> {
  const { db, clock, cache, meters, logger, settings } = ports
  const rest_ms = Math.max(settings.rest_ms, took_ms * settings.rest_factor)
  for (const { detector, error } of look.analysis.failed) {
    meters.detectorFailures.inc({ detector })
    const { project_id, task_id } = task
    logger.error({ err: error, detector, project_id, task_id }, 'a detector failed')
  }
  const written = await writeResult(db, {
    ...look,
    hold: task,
    settings_version: version,
    detected_at: new Date(clock.now_ms()).toISOString(),
    rest_ms,
    judging: ports.planJudging?.(look),
  })
  meters.tasks.inc({ result: written.outcome })
  if (written.outcome === 'gone') return
  if (written.outcome === 'stale') return postpone(db, task, { delay_ms: 0, failed: false })
  cache.keep(task, look.history, clock.now_ms())
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
  logger.warn({ err: error, project_id, task_id, failures }, 'a task could not be looked at')
  meters.tasks.inc({ result: isOver ? 'failed' : 'put_off' })
  await postpone(db, task, { delay_ms: isOver ? null : delay_ms, failed: true })
}
