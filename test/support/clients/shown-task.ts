import { eventually } from '../eventually.ts'
import type { Api } from './api-reader.ts'

/** The six reading endpoints' answers for a task and its conversation. */
export type ShownTask = {
  task: Shown
  /** The task in the list of the conversation's tasks. */
  listed: Shown | undefined
  timeline: { entries: Shown[]; totals: Shown; total: number }
  conversation: Shown & { tasks: Shown[] }
  /** The conversation in the list. */
  listed_conversation: Shown | undefined
  /** The traces of the conversation that belong to the task. */
  traces: Shown[]
}
export type Shown = Record<string, unknown>

/** The client's own ids, and the number of calls that it made. */
export type SentTask = { task_id: string; conversation: string; calls: number }

/** Time limit for data that is promised within two seconds, on a busy machine. */
const shownTimeoutMs = 20_000

/**
 * Polls until each of the six endpoints shows all calls; resolves with their answers and the
 * elapsed time.
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
    { timeout_ms: shownTimeoutMs, interval_ms: 25 },
  )
  return { shown, lag_ms: performance.now() - since_ms }
}

/** Reads the six endpoints once; undefined while one of them lacks data. */
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
    timeline: withoutFindings(timeline as ShownTask['timeline']),
    listed: withoutVerdict(named(tasks?.['tasks'], 'task_id', task_id)),
    conversation: { ...conversationShown, tasks: conversationShown.tasks.map(withoutVerdict) },
    listed_conversation: named(talks?.['conversations'], 'external_id', conversation),
    traces: listIn(traces?.['traces']).filter((trace) => trace['task_id'] === task_id),
  }
}

/** Findings are written asynchronously like verdicts, so two reads may differ in them too. */
function withoutFindings(timeline: ShownTask['timeline']): ShownTask['timeline'] {
  const entries = timeline.entries.map(({ findings: _findings, ...entry }) => entry)
  return { ...timeline, entries }
}

/** Verdicts are written asynchronously, so two reads of a task may differ in the verdict. */
function withoutVerdict(task: Shown | undefined): Shown {
  const { verdict: _verdict, ...shown } = task ?? {}
  return shown
}

/** The path of a task, for ids with any characters. */
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
