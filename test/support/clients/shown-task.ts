import { eventually } from '../eventually.ts'
import type { Api } from './api-reader.ts'

/** What the six reading endpoints say of a task and its conversation. */
export type ShownTask = {
  task: Shown
  /** The task as the list of the conversation's tasks has it. */
  listed: Shown | undefined
  timeline: { entries: Shown[]; totals: Shown; total: number }
  conversation: Shown & { tasks: Shown[] }
  /** The conversation as the list has it. */
  listed_conversation: Shown | undefined
  /** Those traces of the conversation that belong to the task. */
  traces: Shown[]
}
export type Shown = Record<string, unknown>

/** The client's own ids of what should be there, and how many calls it made. */
export type SentTask = { task_id: string; conversation: string; calls: number }

/** What was promised to be readable within two seconds gets this long on a busy machine. */
const shownTimeout_ms = 20_000

/**
 * Asks until each of the six endpoints shows all calls, and resolves with what they say and how
 * long that took.
 */
export async function shownTask(
  api: Api,
  sent: SentTask,
): Promise<{ shown: ShownTask; lag_ms: number }> {
  const since_ms = performance.now()
  const shown = await eventually(
    `${sent.calls} calls of ${sent.task_id}`,
    async () => {
      const { body } = await api.get(taskPath(sent.task_id))
      const read = body['calls'] === sent.calls ? await readTask(api, sent) : undefined
      return read !== undefined && hasAllCalls(read, sent.calls) ? read : undefined
    },
    { timeout_ms: shownTimeout_ms, interval_ms: 25 },
  )
  return { shown, lag_ms: performance.now() - since_ms }
}

/** One look at the six endpoints; undefined while one of them knows nothing of it. */
export async function readTask(
  api: Api,
  { task_id, conversation }: Omit<SentTask, 'calls'>,
): Promise<ShownTask | undefined> {
  const task = taskPath(task_id)
  const talk = `/api/v1/conversations/${encodeURIComponent(conversation)}`
  const tasksOf = new URLSearchParams({ conversation_id: conversation, limit: '1000' })
  const replies = await Promise.all([
    api.get(task),
    api.get(`${task}/timeline?limit=1000`),
    api.get(`/api/v1/tasks?${tasksOf}`),
    api.get(talk),
    api.get('/api/v1/conversations?limit=1000'),
    api.get(`${talk}/traces?limit=1000`),
  ])
  const failed = replies.find(({ status }) => status !== 200 && status !== 404)
  if (failed) throw new Error(`${failed.status}: ${JSON.stringify(failed.body)}`)
  if (replies.some(({ status }) => status === 404)) return undefined
  const [one, timeline, tasks, talked, talks, traces] = replies.map(({ body }) => body)
  const conversationShown = talked as ShownTask['conversation']
  return {
    task: withoutVerdict(one),
    timeline: timeline as ShownTask['timeline'],
    listed: withoutVerdict(named(tasks?.['tasks'], 'task_id', task_id)),
    conversation: { ...conversationShown, tasks: conversationShown.tasks.map(withoutVerdict) },
    listed_conversation: named(talks?.['conversations'], 'external_id', conversation),
    traces: listIn(traces?.['traces']).filter((trace) => trace['task_id'] === task_id),
  }
}

/** A verdict comes by and by, so that two looks at a task may differ in it alone. */
function withoutVerdict(task: Shown | undefined): Shown {
  const { verdict: _verdict, ...shown } = task ?? {}
  return shown
}

/** The path of a task, whatever characters its id has. */
export function taskPath(task_id: string): string {
  return `/api/v1/tasks/${encodeURIComponent(task_id)}`
}

function hasAllCalls(shown: ShownTask, calls: number): boolean {
  const { task, listed, timeline, conversation, traces } = shown
  const inConversation = named(conversation.tasks, 'task_id', task['task_id'])
  const counted = [task, listed, inConversation].every((place) => place?.['calls'] === calls)
  const seen = traces.reduce((sum, trace) => sum + Number(trace['calls']), 0)
  return counted && seen === calls && modelCalls(timeline).length === calls
}

/** The model calls of a timeline, in order. */
export function modelCalls({ entries }: Pick<ShownTask['timeline'], 'entries'>): Shown[] {
  return entries.filter(({ role }) => role === 'model_call')
}

function named(list: unknown, field: string, value: unknown): Shown | undefined {
  return listIn(list).find((item) => item[field] === value)
}

function listIn(value: unknown): Shown[] {
  return Array.isArray(value) ? value : []
}
