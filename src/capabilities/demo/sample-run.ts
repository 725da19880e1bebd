import { printable } from '../../kernel/printable.ts'
import { type Clock, systemClock } from '../../kernel/time.ts'
import { type ChatMessage, type ChatTarget, chatCall } from './chat-call.ts'
import {
  type SampleTask,
  sampleTasks,
  sampleToolResults,
  sampleTools,
  sampleUser,
  systemPrompt,
} from './sample-script.ts'
import {
  completeTask,
  NotReadable,
  type ShownTask,
  type TasksApi,
  type Wait,
  waitForCalls,
  waitForVerdict,
} from './sample-tasks-api.ts'

export type SampleOptions = {
  /** Origin of the proxy, without a slash at the end. */
  base_url: string
  /** Origin of the product API. */
  api_url: string
  /** With the scopes proxy:write, tasks:read and tasks:write. */
  project_key: string
  provider_key: string
  /** Model of every call. */
  model: string
  /** Receives the report, several lines at once, each with its LF. */
  log: (text: string) => void
  fetch?: typeof globalThis.fetch
  clock?: Clock
  /** Longest wait for the calls of a task, and again for its verdict. Default: 30 s. */
  wait_ms_max?: number
  /** Aborts the run, which then rejects. */
  signal?: AbortSignal
}

/**
 * Plays two agents through the proxy, one of which loops; completes their tasks, waits for the
 * verdict of each, and logs a report. When calls or verdicts are not readable in time, the report
 * shows how to read them later.
 *
 * The provider behind the proxy must play `sampleScript`. Throws ChatCallFailed when a call fails,
 * SampleFailed when the API answers with an error.
 */
export async function runSample(options: SampleOptions): Promise<void> {
  const { fetch = globalThis.fetch, clock = systemClock, signal } = options
  const { api_url: url, project_key, wait_ms_max = 30_000 } = options
  const api = { url, project_key, fetch }
  const wait = { clock, wait_ms_max, ...(signal && { signal }) }
  const played: { task_id: string; calls: number }[] = []
  for (const task of sampleTasks) {
    const target = {
      url: `${options.base_url}/v1`,
      headers: {
        'x-api-key': project_key,
        authorization: `Bearer ${options.provider_key}`,
        'x-task-id': task.task_id,
        'x-task-name': task.name,
        'x-conversation-id': task.conversation_id,
        'x-user-id': sampleUser,
      },
      fetch,
      timeout_ms: callTimeoutMs,
      ...(signal && { signal }),
    }
    played.push({ task_id: task.task_id, calls: await runAgent(target, task, options) })
  }
  const judged: ShownTask[] = []
  for (const task of played) {
    const shown = await verdictOf(api, task, wait).catch(unlessLate)
    if (shown !== undefined) judged.push(shown)
  }
  options.log(sampleReport(judged))
}

async function verdictOf(
  api: TasksApi,
  task: { task_id: string; calls: number },
  wait: Wait,
): Promise<ShownTask | undefined> {
  await waitForCalls(api, task, wait)
  await completeTask(api, task.task_id)
  return waitForVerdict(api, task.task_id, wait)
}

function unlessLate(error: unknown): undefined {
  if (!(error instanceof NotReadable)) throw error
}

/** Time-out of a call, which takes a second; a proxy that is still starting may take longer. */
const callTimeoutMs = 30_000

/** Maximum model calls of an agent, in case the model never answers. */
const rounds_max = 12

/**
 * Plays an agent on one task: it calls the model with the whole history and runs the requested
 * tools, until the model answers. Returns the number of model calls. Throws ChatCallFailed.
 */
async function runAgent(
  target: ChatTarget,
  task: SampleTask,
  { model }: { model: string },
): Promise<number> {
  const messages: ChatMessage[] = [
    { role: 'system', content: systemPrompt },
    { role: 'user', content: task.user_message },
  ]
  for (let calls = 1; calls <= rounds_max; calls += 1) {
    const { streamed = false } = task.steps[calls - 1] ?? task.answer
    const message = await chatCall(target, {
      model,
      messages,
      tools: sampleTools,
      stream: streamed,
    })
    messages.push(message)
    if (!message.tool_calls?.length) return calls
    messages.push(...message.tool_calls.map(({ id }) => toolResult(id)))
  }
  return rounds_max
}

function toolResult(tool_call_id: string): ChatMessage {
  const result = sampleToolResults.get(tool_call_id) ?? { error: 'unknown tool call' }
  return { role: 'tool', tool_call_id, content: JSON.stringify(result) }
}

/**
 * Renders the verdicts of the sample's tasks, and commands that show more, for a terminal of 80
 * columns; lines end in LF. `judged` are the tasks with a verdict.
 */
export function sampleReport(judged: readonly ShownTask[]): string {
  const verdicts = sampleTasks.map(({ task_id }) => {
    const task = judged.find((one) => one.task_id === task_id)
    return task === undefined
      ? [`  ${task_id}  no verdict yet; read it later with the command below`]
      : verdictLines(task)
  })
  const [looping = '', twin = ''] = sampleTasks.map(({ task_id }) => task_id)
  const calls = [
    ...sampleTasks.map(({ task_id }) => task_id).filter((id) => !isIn(judged, id)),
    `${looping}/loops`,
    `${looping}/timeline`,
    `${twin}/timeline`,
  ]
  return [
    'Two sample agents ran through the proxy, with a scripted provider. The verdicts:',
    ...verdicts.flatMap((lines) => ['', ...lines]),
    '',
    'See the loop, and each step of both:',
    '',
    ...calls.flatMap((path) => [
      `  curl $LOOPTRACE_URL/api/v1/tasks/${path} \\`,
      '    -H "X-API-Key: $LOOPTRACE_API_KEY"',
    ]),
    '',
  ]
    .map((line) => `${line}\n`)
    .join('')
}

function isIn(judged: readonly ShownTask[], task_id: string): boolean {
  return judged.some((task) => task.task_id === task_id)
}

function verdictLines({ task_id, calls, verdict }: ShownTask): string[] {
  const { summary = '', root_cause, worst_severity } = verdict ?? {}
  const step = root_cause?.step ?? null
  const at = step === null ? '' : ` at step ${step + 1} of ${calls}`
  const result = root_cause
    ? `went wrong${at}: ${root_cause.type}, ${worst_severity}`
    : 'nothing wrong found'
  return [`  ${task_id}  ${printable(result)}`, ...wrapLines(printable(summary))]
}

const columns = 80
const indent = '    '

/** Wraps a text at 80 columns; a longer word has a line of its own. */
function wrapLines(text: string): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const line = `${lines.at(-1)} ${word}`
    if (lines.length > 0 && line.length <= columns) lines[lines.length - 1] = line
    else lines.push(indent + word)
  }
  return lines
}
