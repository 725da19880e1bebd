import type { ObservationHead } from '../../storage/row-format/index.ts'

/** A task with rows in a batch. */
export type TouchedTask = {
  project_id: string
  task_id: string
  rows: ObservationHead[]
  /** End, in nanoseconds since 1970, and status of the call that ended last. */
  last_end: bigint
  last_status: ObservationHead['status']
}

/** A conversation with rows in a batch. Times are nanoseconds since 1970. */
export type TouchedConversation = {
  project_id: string
  conversation_id: string
  first_start: bigint
  last_end: bigint
}

/**
 * Tasks and conversations in the order of their keys, so that all writers lock them in one order.
 */
export type Touched = { tasks: TouchedTask[]; conversations: TouchedConversation[] }

/** Formats milliseconds since 1970 as ISO 8601 UTC. */
export function isoFromMs(instant_ms: number): string {
  return new Date(instant_ms).toISOString()
}

/** Converts nanoseconds since 1970 to whole milliseconds. */
export function msFromNs(instant: bigint): number {
  return Number(instant / nsPerMs)
}

/** Parses ISO 8601 as nanoseconds since 1970, to the millisecond. */
export function nsFromIso(iso: string): bigint {
  return BigInt(Date.parse(iso)) * nsPerMs
}

const nsPerMs = 1_000_000n

/**
 * Groups rows by task and conversation. A plain span without a task id of its own belongs to no
 * task: the calls inside it cover the same time, and a trace of only such spans is not work of an
 * agent.
 */
export function collectTouched(rows: readonly ObservationHead[]): Touched {
  const tasks = new Map<string, Map<string, TouchedTask>>()
  const conversations = new Map<string, Map<string, TouchedConversation>>()
  for (const row of rows) {
    if (isCountedInTask(row)) addToTask(ofProject(tasks, row.project_id), row)
    if (row.conversation_id !== '') addToConversation(ofProject(conversations, row.project_id), row)
  }
  return {
    tasks: inOrder(tasks, ({ task_id }) => task_id),
    conversations: inOrder(conversations, ({ conversation_id }) => conversation_id),
  }
}

/**
 * Returns true when a task's roll-up counts the observation; the store's roll-ups use the same
 * rule.
 */
export function isCountedInTask({ type, task_implicit, task_id }: ObservationHead): boolean {
  return task_id !== '' && !(task_implicit && type === 'span')
}

function ofProject<T>(byProject: Map<string, Map<string, T>>, project_id: string): Map<string, T> {
  const known = byProject.get(project_id)
  if (known !== undefined) return known
  const fresh = new Map<string, T>()
  byProject.set(project_id, fresh)
  return fresh
}

function addToTask(tasks: Map<string, TouchedTask>, row: ObservationHead): void {
  const { project_id, task_id, end_time, status } = row
  const known = tasks.get(task_id)
  if (known === undefined) {
    const task = { project_id, task_id, rows: [row], last_end: end_time, last_status: status }
    tasks.set(task_id, task)
    return
  }
  known.rows.push(row)
  if (end_time < known.last_end) return
  known.last_end = end_time
  known.last_status = status
}

function addToConversation(
  conversations: Map<string, TouchedConversation>,
  row: ObservationHead,
): void {
  const { project_id, conversation_id, start_time, end_time } = row
  const known = conversations.get(conversation_id)
  if (known === undefined) {
    const conversation = {
      project_id,
      conversation_id,
      first_start: start_time,
      last_end: end_time,
    }
    conversations.set(conversation_id, conversation)
    return
  }
  if (start_time < known.first_start) known.first_start = start_time
  if (end_time > known.last_end) known.last_end = end_time
}

function inOrder<T>(byProject: Map<string, Map<string, T>>, idOf: (item: T) => string): T[] {
  const projects = [...byProject].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return projects.flatMap(([, items]) =>
    [...items.values()].toSorted((a, b) => (idOf(a) < idOf(b) ? -1 : 1)),
  )
}
