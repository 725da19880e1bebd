import { problem } from '../../kernel/problem.ts'
import { openProjectSlots } from '../../kernel/project-slots.ts'
import { Semaphore } from '../../kernel/semaphore.ts'
import { detectionOf } from './findings/findings-store.ts'
import { findTasks, type TaskKey } from './findings/tasks-store.ts'
import type { DetectionPorts } from './ports.ts'
import type { TaskRun } from './reconstruction/index.ts'
import { readHistories, toHistoryRequest } from './worker/read-histories.ts'
import { type CacheBounds, HistoryCache, TaskHistory } from './worker/task-history.ts'

/** Reads the runs of tasks as the detectors read them, with the reasoning of answers. */
export type RunReader = {
  /**
   * Applies a function to the run of a stored task as it is now; the run may grow afterwards.
   * Resolves to undefined for a task that was deleted. Rejects with `store_unavailable`,
   * `rate_limited` or `overloaded`, and with the signal's reason.
   */
  read<Result>(
    about: { task: TaskKey; signal: AbortSignal },
    use: (run: TaskRun) => Result,
  ): Promise<Result | undefined>
}

/**
 * Runs that a process keeps between the pages of a reader: each page reads which observations are
 * stored, and the content of new ones only.
 */
const cacheBounds: CacheBounds = {
  bytes_max: 48 * 1024 * 1024,
  histories_max: 100,
  idle_ms_max: 60_000,
}

/** Retention can take content from stored observations, so a run is read again after this time. */
const kept_ms_max = 60_000

/** Bytes of content that one statement reads. A person waits, so there are fewer statements. */
const chunk_bytes = 8 * 1024 * 1024

/** Runs of a process that are read at one time: each takes up to about 100 MB. */
const reads_max = 4
const waiting_max = 200

/** Opens the reader of a process. Requests of one project are answered one after the other. */
export function openRunReader(ports: DetectionPorts): RunReader {
  const cache = new HistoryCache(cacheBounds)
  const begun = new WeakMap<TaskHistory, number>()
  const slots = openProjectSlots({
    work: 'reads of whole tasks',
    running_max: 1,
    waiting_max: 50,
    wait_ms_max: 20_000,
  })
  const reads = new Semaphore({ permits_max: reads_max, waiting: { max: waiting_max, refusal } })
  const take = (task: TaskKey, epoch: string) => {
    const now_ms = ports.clock.now_ms()
    cache.dropIdle(now_ms)
    const history = cache.take(task, epoch)
    const age_ms = now_ms - (history === undefined ? 0 : (begun.get(history) ?? 0))
    return age_ms <= kept_ms_max ? history : undefined
  }
  const keep = (task: TaskKey, history: TaskHistory) => {
    const now_ms = ports.clock.now_ms()
    if (!begun.has(history)) begun.set(history, now_ms)
    cache.keep(task, history, now_ms)
  }
  return {
    read: ({ task, signal }, use) =>
      slots.take({ project_id: task.project_id, signal }, () =>
        reads.run(async () => {
          const run = await readRun(ports, { task, signal, take, keep })
          return run === undefined ? undefined : use(run)
        }, signal),
      ),
  }
}

function refusal() {
  return problem('overloaded', {
    detail: 'Limit reached: too many tasks are read at one time. Try again shortly.',
    retry_after_s: 1,
  })
}

type Reading = {
  task: TaskKey
  signal: AbortSignal
  take: (task: TaskKey, epoch: string) => TaskHistory | undefined
  keep: (task: TaskKey, history: TaskHistory) => void
}

async function readRun(
  { db, store }: Pick<DetectionPorts, 'db' | 'store'>,
  { task, signal, take, keep }: Reading,
): Promise<TaskRun | undefined> {
  const { project_id, task_id } = task
  const [[facts], detection] = await Promise.all([
    findTasks(db, project_id, [task_id]),
    detectionOf(db, task),
  ])
  if (facts === undefined) return undefined
  const epoch = detection?.epoch ?? ''
  const asked = toHistoryRequest({ facts, epoch, history: take(task, epoch) })
  const begun = asked.history ?? new TaskHistory(asked, epoch, { keeps_reasoning: true })
  const request = { ...asked, history: begun, is_compared: true, keeps_reasoning: true }
  try {
    const read = await readHistories(store, project_id, [request], { signal, chunk_bytes })
    const history = read.get(request)
    if (history !== undefined) keep(task, history)
    return history?.run()
  } catch (error) {
    // A request that ends before all is read leaves what it has to the next one.
    keep(task, begun)
    throw error
  }
}
