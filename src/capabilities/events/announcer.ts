import type { ChangeHint } from '../../model/change-hint.ts'
import type { Broadcast } from '../../platform/queue/index.ts'
import type { Metrics } from '../../platform/telemetry/index.ts'
import { encodeChanges, PendingChanges } from './pending-changes.ts'

/** Minimum time between two messages about a project, of one process. */
const interval_ms_default = 250

/** Maximum projects whose changes wait while the broadcast is unavailable. */
const projects_max = 10_000

export type AnnouncerOptions = {
  broadcast: Broadcast
  metrics: Metrics
  interval_ms?: number
}

/** Announces committed changes to all processes that serve event streams. */
export type Announcer = {
  /** Adds committed changes to the next message of their project. Never throws. */
  add(changes: readonly ChangeHint[]): void
  /** Sends what waits. */
  close(): void
}

/**
 * Creates an announcer. All changes of a project in an interval are one message, and
 * cost no statement. While the broadcast is unavailable, they wait.
 */
export function createAnnouncer({
  broadcast,
  metrics,
  interval_ms = interval_ms_default,
}: AnnouncerOptions): Announcer {
  const messages = metrics.counter({
    name: 'looptrace_change_messages_total',
    help: 'Messages about changes of a project: sent to the processes that serve event streams, or dropped.',
    labels: ['result'],
  })
  const projects = new Map<string, PendingChanges>()
  let timer: NodeJS.Timeout | undefined
  const send = () => {
    timer = undefined
    for (const [project_id, pending] of projects) {
      if (!broadcast.send(project_id, encodeChanges(pending.list()))) break
      projects.delete(project_id)
      messages.inc({ result: 'sent' })
    }
    schedule()
  }
  const schedule = () => {
    if (projects.size > 0) timer ??= setTimeout(send, interval_ms).unref()
  }
  return {
    add: (changes) => {
      for (const change of changes) {
        const pending = projects.get(change.project_id) ?? new PendingChanges()
        if (pending.isEmpty && projects.size >= projects_max) {
          messages.inc({ result: 'dropped' })
          continue
        }
        projects.set(change.project_id, pending)
        pending.add(change)
      }
      schedule()
    },
    close: () => {
      clearTimeout(timer)
      send()
      clearTimeout(timer)
    },
  }
}
