import { newId } from '../../kernel/ids.ts'
import { type Clock, systemClock } from '../../kernel/time.ts'
import type { ChatMessage } from './chat-call.ts'
import { runAgent } from './sample-agent.ts'
import { sampleReport } from './sample-report.ts'
import { sampleTasks } from './sample-script.ts'
import { completeTask, taskWithCalls, timelineOf } from './sample-tasks-api.ts'

export type SampleOptions = {
  /** Origin of the proxy, without a slash at the end. */
  base_url: string
  /** Origin of the product API; left out: the proxy's. */
  api_url?: string
  /** With the scopes proxy:write, tasks:read and tasks:write. */
  project_key: string
  provider_key: string
  /** Goes to the provider as it stands. */
  model: string
  /** Takes the report, several lines at once, each with its LF. */
  log: (text: string) => void
  fetch?: typeof globalThis.fetch
  clock?: Clock
  /** Keeps the task ids of several runs apart; left out: a new one. */
  run_id?: string
  /** How long the calls may take to be readable. Left out: ten seconds. */
  wait_ms_max?: number
}

export type SampleOutcome = {
  conversation_id: string
  /** Each task with the number of its calls, in order. */
  tasks: { task_id: string; calls: number }[]
  /** From the last answer until the API showed all calls. */
  readable_after_ms: number
}

/**
 * Plays a short agent run through the proxy: a refund with tools, one of which fails first, and a
 * question afterwards, as two tasks of one conversation; eight calls, two of them streamed. Waits
 * until the API shows all of them, completes both tasks, and logs what the API says of each.
 *
 * The provider behind the proxy must play `sampleScript`. Throws ChatCallFailed when a call fails,
 * SampleFailed when the API does not show what was sent.
 */
export async function runSample(options: SampleOptions): Promise<SampleOutcome> {
  const { fetch = globalThis.fetch, clock = systemClock } = options
  const conversation_id = newId()
  const tasks = await playTasks(options, conversation_id, fetch)

  const answered_at_ms = clock.now_ms()
  const api = { url: options.api_url ?? options.base_url, project_key: options.project_key, fetch }
  const wait = { clock, wait_ms_max: options.wait_ms_max ?? 10_000 }
  for (const task of tasks) await taskWithCalls(api, task, wait)
  const readable_after_ms = clock.now_ms() - answered_at_ms

  for (const { task_id } of tasks) {
    const shown = await completeTask(api, task_id)
    options.log(sampleReport(shown, await timelineOf(api, task_id)))
  }
  return { conversation_id, tasks, readable_after_ms }
}

/** Plays both tasks; the second one knows what was said in the first. */
async function playTasks(
  options: SampleOptions,
  conversation_id: string,
  fetch: typeof globalThis.fetch,
): Promise<SampleOutcome['tasks']> {
  const run_id = options.run_id ?? newId().slice(-8)
  const earlier: ChatMessage[] = []
  const played: SampleOutcome['tasks'] = []
  for (const task of sampleTasks) {
    const task_id = `${task.slug}-${run_id}`
    const target = {
      url: `${options.base_url}/v1`,
      headers: {
        'x-api-key': options.project_key,
        authorization: `Bearer ${options.provider_key}`,
        'x-task-id': task_id,
        'x-task-name': task.name,
        'x-conversation-id': conversation_id,
        'x-user-id': 'customer-301',
      },
      fetch,
      timeout_ms: callTimeout_ms,
    }
    const { calls, answer } = await runAgent(target, task, { model: options.model, earlier })
    earlier.push({ role: 'user', content: task.user_message })
    earlier.push({ role: 'assistant', content: answer })
    played.push({ task_id, calls })
  }
  return played
}

/** A call of the sample takes a second; a proxy that is still starting may take longer. */
const callTimeout_ms = 30_000
