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

/** The fields of a task that the sample reads. */
export type ShownTask = z.output<typeof taskSchema>

/** Address of the product's API, and the key of the caller. */
export type TasksApi = {
  /** Origin, without a slash at the end. */
  url: string
  project_key: string
  fetch: typeof globalThis.fetch
}

/** The API gave an unexpected answer; the message has it. */
class SampleFailed extends Error {
  override readonly name = 'SampleFailed'
}

/** Sent calls are not readable yet. */
export class NotReadable extends Error {
  override readonly name = 'NotReadable'
}

/** Bound of polling; `signal` aborts it. */
export type Wait = { clock: Clock; wait_ms_max: number; signal?: AbortSignal }

const pollIntervalMs = 100

/** Polls until there is an answer; undefined when the time is up. */
async function pollFor<T>(
  { clock, wait_ms_max, signal }: Wait,
  ask: () => Promise<T | undefined>,
): Promise<T | undefined> {
  for (const until_ms = clock.now_ms() + wait_ms_max; ; ) {
    signal?.throwIfAborted()
    const answer = await ask()
    if (answer !== undefined || clock.now_ms() >= until_ms) return answer
    await sleep(pollIntervalMs, signal)
  }
}

/**
 * Waits until a task has all of its calls. Throws NotReadable after `wait_ms_max`, SampleFailed for
 * an error answer.
 */
export async function waitForCalls(
  api: TasksApi,
  wanted: { task_id: string; calls: number },
  wait: Wait,
): Promise<ShownTask> {
  let shown = 0
  const complete = await pollFor(wait, async () => {
    const answer = await ask(api, 'GET', pathOf(wanted.task_id))
    if (answer.status === 404) return undefined
    const task = parsed(taskSchema, answer)
    shown = task.calls
    return shown >= wanted.calls ? task : undefined
  })
  if (complete !== undefined) return complete
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
 * Waits until detection has analysed all calls of a task; undefined after `wait_ms_max`. Throws
 * SampleFailed.
 */
export function waitForVerdict(
  api: TasksApi,
  task_id: string,
  wait: Wait,
): Promise<ShownTask | undefined> {
  return pollFor(wait, async () => {
    const findings = await ask(api, 'GET', `${pathOf(task_id)}/findings`)
    if (!parsed(findingsSchema, findings).is_current) return undefined
    const task = parsed(taskSchema, await ask(api, 'GET', pathOf(task_id)))
    return task.verdict === null ? undefined : task
  })
}

const pathOf = (task_id: string) => `/api/v1/tasks/${encodeURIComponent(task_id)}`

type Answer = { method: string; path: string; status: number; text: string }

/** Time-out of an answer of the API. */
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

/** Parses an answer. Throws SampleFailed for an error or an unexpected form. */
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
