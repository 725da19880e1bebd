import type { ObservationHead } from '../../stores/row-format/index.ts'

/** A task that a batch has rows of, and what the batch says of it. Milliseconds since 1970. */
export type TouchedTask = {
  project_id: string
  task_id: string
  started_ms: number
  /** Start of each row. */
  starts_ms: number[]
  rows: ObservationHead[]
  /** End and status of the call that ended last. */
  ended_ms: number
  last_status: ObservationHead['status']
}

/** A conversation that a batch has rows of. */
export type TouchedConversation = {
  project_id: string
  conversation_id: string
  started_ms: number
  ended_ms: number
}

/** Both in the order of their keys: whoever locks them does so in one order. */
export type Touched = { tasks: TouchedTask[]; conversations: TouchedConversation[] }

/** Milliseconds since 1970 as ISO 8601 UTC. */
export function isoFromMs(instant_ms: number): string {
  return new Date(instant_ms).toISOString()
}

/**
 * Which tasks and conversations the rows belong to. A plain span without a task of its own makes no
 * task and counts in none: what it times is told by the calls in it, and traces of nothing but
 * spans are not work that somebody gave an agent.
 */
export function touchedBy(rows: readonly ObservationHead[]): Touched {
  const tasks = new Map<string, TouchedTask>()
  const conversations = new Map<string, TouchedConversation>()
  for (const row of rows) {
    const started_ms = Number(row.start_time / nsPerMs)
    const ended_ms = Number(row.end_time / nsPerMs)
    if (countsInTask(row)) addToTask(tasks, row, { started_ms, ended_ms })
    if (row.conversation_id !== '') addToConversation(conversations, row, { started_ms, ended_ms })
  }
  return { tasks: inKeyOrder(tasks), conversations: inKeyOrder(conversations) }
}

const nsPerMs = 1_000_000n

function countsInTask({ type, task_implicit, task_id }: ObservationHead): boolean {
  return task_id !== '' && !(task_implicit && type === 'span')
}

type Times = { started_ms: number; ended_ms: number }

function addToTask(tasks: Map<string, TouchedTask>, row: ObservationHead, times: Times): void {
  const { project_id, task_id } = row
  const key = `${project_id} ${task_id}`
  const known = tasks.get(key)
  if (known === undefined) {
    tasks.set(key, {
      project_id,
      task_id,
      ...times,
      starts_ms: [times.started_ms],
      rows: [row],
      last_status: row.status,
    })
    return
  }
  known.starts_ms.push(times.started_ms)
  known.rows.push(row)
  if (times.ended_ms >= known.ended_ms) known.last_status = row.status
  extend(known, times)
}

function addToConversation(
  conversations: Map<string, TouchedConversation>,
  row: ObservationHead,
  times: Times,
): void {
  const { project_id, conversation_id } = row
  const key = `${project_id} ${conversation_id}`
  const known = conversations.get(key)
  if (known === undefined) {
    conversations.set(key, { project_id, conversation_id, ...times })
  } else extend(known, times)
}

function extend(known: Times, times: Times): void {
  known.started_ms = Math.min(known.started_ms, times.started_ms)
  known.ended_ms = Math.max(known.ended_ms, times.ended_ms)
}

function inKeyOrder<T>(byKey: Map<string, T>): T[] {
  return [...byKey].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value)
}
