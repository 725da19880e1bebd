import type { TaskSums } from '../../storage/index.ts'
import type { TaskExtent } from './read-rows.ts'
import { TaskWindowReader, type WindowPorts } from './task-window.ts'

/** A window of a task, and sums over all of the task if the window is a part of it. */
export type OpenWindow = { reader: TaskWindowReader; sums: TaskSums | undefined }

/**
 * Opens the window of a page of some entries that begins at an instant, or at the start of the task:
 * all of a small task, else the rows around the page.
 */
export async function openTaskWindow(
  ports: WindowPorts,
  task: TaskExtent,
  { instant, entries }: { instant: bigint | undefined; entries: number },
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
  const before = reader.start ?? from
  const [sums] = await Promise.all([
    store.taskSums(project_id, task_id, { from, before, signal }),
    reader.extendFor(entries),
  ])
  return { reader, sums }
}
