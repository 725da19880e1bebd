import type { TaskReply } from './task-replies.ts'

/** The tasks that were active lately, to find which of them changed. */
export class TaskChanges {
  #known = new Map<string, string>()

  /**
   * Returns the tasks of a page that are new or changed since the last page, the latest activity last.
   * Tasks that are not on the page are forgotten, so that memory is bounded by the page.
   */
  take(page: readonly TaskReply[]): TaskReply[] {
    const known = new Map(page.map((task) => [task.task_id, signOf(task)]))
    const changed = page.filter(({ task_id }) => this.#known.get(task_id) !== known.get(task_id))
    this.#known = known
    return changed.toSorted(
      (a, b) => Date.parse(a.last_activity_at) - Date.parse(b.last_activity_at),
    )
  }
}

/** Returns what has to differ for a task to be printed again. */
function signOf({ state, stalled, calls, errors, last_activity_at, verdict }: TaskReply): string {
  const verdictSign = verdict && [verdict.summary, verdict.worst_severity]
  return JSON.stringify([state, stalled, calls, errors, last_activity_at, verdictSign])
}
