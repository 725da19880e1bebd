import { z } from 'zod'
import { type Clock, sleep } from '../../kernel/time.ts'

const taskSchema = z.looseObject({
  task_id: z.string(),
  calls: z.number(),
  verdict: z
    .looseObject({
      summary: z.string(),
      worst_severity: z.string().nullable(),
      root_cause: z.looseObject({ type: z.string(), step: z.number().nullable() }).nullable(),
    })
    .nullable(),
})

const findingsSchema = z.looseObject({ is_current: z.boolean() })

/** A task, as far as the sample looks at it. */
export type ShownTask = z.output<typeof taskSchema>

/** Where the product's own API is, and who asks. */
export type TasksApi = {
  /** Origin, without a slash at the end. */
  url: string
  project_key: string
  fetch: typeof globalThis.fetch
}

/** The API answered something else than the sample needs; the message says what. */
class SampleFailed extends Error {
  override readonly name = 'SampleFailed'
}

/** Calls that were sent are not readable yet. */
export class NotReadable extends Error {
  override readonly name = 'NotReadable'
}

/** How long to ask again; `signal` ends it. */
export type Wait = { clock: Clock; wait_ms_max: number; signal?: AbortSignal }

const pollInterval_ms = 100

/** Asks until there is an answer; undefined when time is up. */
async function polled<T>(
  { clock, wait_ms_max, signal }: Wait,
  ask: () => Promise<T | undefined>,
): Promise<T | undefined> {
  for (const until_ms = clock.now_ms() + wait_ms_max; ; ) {
    signal?.throwIfAborted()
    const answer = await ask()
    if (answer !== undefined || clock.now_ms() >= until_ms) return answer
    await sleep(pollInterval_ms, signal)
  }
}

/**
 * Waits until a task shows all of its calls. Throws NotReadable when it does not within
 * `wait_ms_max`, SampleFailed for an answer that is an error.
 */
export async function taskWithCalls(
  api: TasksApi,
  wanted: { task_id: string; calls: number },
  wait: Wait,
): Promise<ShownTask> {
  let shown = 0
  const found = await polled(wait, async () => {
    const answer = await ask(api, 'GET', pathOf(wanted.task_id))
    if (answer.status === 404) return undefined
    const task = parsed(taskSchema, answer)
    shown = task.calls
    return shown >= wanted.calls ? task : undefined
  })
  if (found !== undefined) return found
  throw new NotReadable(
    `task "${wanted.task_id}" shows ${shown} calls after ${wait.wait_ms_max} ms, ` +
      `expected ${wanted.calls}`,
  )
}

/** Completes a task. Throws SampleFailed. */
export async function completeTask(api: TasksApi, task_id: string): Promise<void> {
  parsed(taskSchema, await ask(api, 'PUT', `${pathOf(task_id)}/complete`))
}

/**
 * Waits until detection has seen everything of a task; undefined when that takes longer than
 * `wait_ms_max`. Throws SampleFailed.
 */
export function judgedTask(
  api: TasksApi,
  task_id: string,
  wait: Wait,
): Promise<ShownTask | undefined> {
  return polled(wait, async () => {
    const findings = await ask(api, 'GET', `${pathOf(task_id)}/findings`)
    if (!parsed(findingsSchema, findings).is_current) return undefined
    const task = parsed(taskSchema, await ask(api, 'GET', pathOf(task_id)))
    return task.verdict === null ? undefined : task
  })
}

const pathOf = (task_id: string) => `/api/v1/tasks/${encodeURIComponent(task_id)}`

type Answer = { method: string; path: string; status: number; text: string }

/** No answer of the API takes as long, on one machine. */
const answer_ms_max = 10_000

async function ask(api: TasksApi, method: string, path: string): Promise<Answer> {
  try {
    const reply = await api.fetch(api.url + path, {
      method,
      headers: { 'x-api-key': api.project_key },
      signal: AbortSignal.timeout(answer_ms_max),
    })
    return { method, path, status: reply.status, text: await reply.text() }
  } catch (cause) {
    throw new SampleFailed(`${method} ${api.url}${path}: ${cause}`, { cause })
  }
}

/** Throws SampleFailed for an answer that is no success or has another form. */
function parsed<S extends z.ZodType>(schema: S, answer: Answer): z.output<S> {
  const { method, path, status, text } = answer
  if (status !== 200) {
    throw new SampleFailed(`${method} ${path}: status ${status}: ${text.slice(0, 500)}`)
  }
  try {
    return schema.parse(JSON.parse(text))
  } catch (cause) {
    throw new SampleFailed(`${method} ${path}: ${cause}`, { cause })
  }
}
