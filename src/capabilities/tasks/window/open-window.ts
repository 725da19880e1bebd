import type { TimelineSums } from '../../storage/index.ts'
import type { PageEnd } from '../timeline-entry.ts'
import type { TaskExtent } from './read-rows.ts'
import { type TaskWindow, TaskWindowReader, type WindowPorts } from './task-window.ts'

/** A window of a task, and sums over the part before it, if they are needed and there is one. */
export type OpenWindow = { reader: TaskWindowReader; sums: TimelineSums | undefined }

/**
 * Opens the window of a page of some entries that begins at an instant, or at the start of the task:
 * all of a small task, else the rows around the page.
 */
export async function openTaskWindow(
  ports: WindowPorts,
  task: TaskExtent,
  {
    instant,
    entries,
    has_sums,
  }: { instant: bigint | undefined; entries: number; has_sums: boolean },
): Promise<OpenWindow> {
  const { store, limits, signal } = ports
  if (task.calls <= limits.whole_rows_max) {
    const reader = new TaskWindowReader(ports, task)
    await reader.extend(limits.whole_rows_max + 1)
    if (reader.isAtEnd) return { reader, sums: undefined }
  }
  const reader = new TaskWindowReader(ports, task)
  if (instant !== undefined) await reader.moveTo(instant)
  const { project_id, task_id, from } = task
  const to = reader.start
  const [sums] = await Promise.all([
    to === undefined || !has_sums
      ? undefined
      : store.taskSums(project_id, task_id, { from, to, signal }),
    reader.extendFor(entries),
  ])
  return { reader, sums }
}

/**
 * Returns the ids of tool calls that calls of a page bring as history or answer, where rows before the
 * window asked for them.
 */
export function unreadIds({ unread, frontier }: TaskWindow, after: PageEnd | undefined): string[] {
  const from = after?.position.time ?? 0n
  const isOnPage = (at: bigint | null) =>
    at !== null && at >= from && (frontier === undefined || at < frontier)
  return unread.flatMap(({ asked_at, answered_at, tool_call_id }) =>
    tool_call_id !== '' && (isOnPage(asked_at) || isOnPage(answered_at)) ? [tool_call_id] : [],
  )
}
