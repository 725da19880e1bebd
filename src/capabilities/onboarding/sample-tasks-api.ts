import { z } from 'zod'
import { type Clock, sleep } from '../../kernel/time.ts'

const count = z.number()

const taskSchema = z.looseObject({
  task_id: z.string(),
  name: z.string(),
  state: z.string(),
  calls: count,
  errors: count,
  duration_ms: z.number(),
  tokens: z.looseObject({
    input_uncached: count,
    cache_read: count,
    output_visible: count,
    reasoning: count,
    total: count,
  }),
  cost_usd: z.string(),
  models: z.array(z.string()),
  providers: z.array(z.string()),
})

const entrySchema = z.looseObject({
  role: z.string(),
  running: z.looseObject({ elapsed_ms: z.number() }),
  latency_ms: z.number().nullish(),
  model: z.string().optional(),
  streamed: z.boolean().optional(),
  finish_reason: z.string().optional(),
  status: z.string().nullish(),
  tokens: z.looseObject({ total: count }).optional(),
  cost_usd: z.string().nullish(),
  tool_name: z.string().nullish(),
  arguments: z.string().optional(),
  content: z.string().optional(),
  change: z.string().optional(),
})

const timelineSchema = z.looseObject({ entries: z.array(entrySchema) })

/** A task and an entry of its timeline, as far as the sample's report looks at them. */
export type ShownTask = z.output<typeof taskSchema>
export type ShownEntry = z.output<typeof entrySchema>

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

/**
 * Asks for a task until it shows so many calls. Throws SampleFailed when it does not within
 * `wait_ms_max`.
 */
export async function taskWithCalls(
  api: TasksApi,
  wanted: { task_id: string; calls: number },
  wait: { clock: Clock; wait_ms_max: number },
): Promise<ShownTask> {
  const until_ms = wait.clock.now_ms() + wait.wait_ms_max
  for (let shown = 0; ; ) {
    const answer = await ask(api, 'GET', `/${encodeURIComponent(wanted.task_id)}`)
    if (answer.status === 200) {
      const task = parsed(taskSchema, answer)
      if (task.calls >= wanted.calls) return task
      shown = task.calls
    } else if (answer.status !== 404) {
      throw unexpected(answer)
    }
    if (wait.clock.now_ms() >= until_ms) {
      throw new SampleFailed(
        `task "${wanted.task_id}" shows ${shown} calls after ${wait.wait_ms_max} ms, ` +
          `expected ${wanted.calls}`,
      )
    }
    await sleep(pollInterval_ms)
  }
}

const pollInterval_ms = 100

/** Completes a task. Throws SampleFailed. */
export async function completeTask(api: TasksApi, task_id: string): Promise<ShownTask> {
  const answer = await ask(api, 'PUT', `/${encodeURIComponent(task_id)}/complete`)
  if (answer.status !== 200) throw unexpected(answer)
  return parsed(taskSchema, answer)
}

/** The first entries of a task's timeline, in order. Throws SampleFailed. */
export async function timelineOf(api: TasksApi, task_id: string): Promise<ShownEntry[]> {
  const answer = await ask(api, 'GET', `/${encodeURIComponent(task_id)}/timeline?limit=100`)
  if (answer.status !== 200) throw unexpected(answer)
  return parsed(timelineSchema, answer).entries
}

type Answer = { method: string; path: string; status: number; text: string }

/** No answer of the API takes as long, on one machine. */
const answer_ms_max = 10_000

async function ask(api: TasksApi, method: string, rest: string): Promise<Answer> {
  const path = `/api/v1/tasks${rest}`
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

function parsed<S extends z.ZodType>(schema: S, answer: Answer): z.output<S> {
  try {
    return schema.parse(JSON.parse(answer.text))
  } catch (cause) {
    throw new SampleFailed(`${answer.method} ${answer.path}: ${cause}`, { cause })
  }
}

function unexpected({ method, path, status, text }: Answer): SampleFailed {
  return new SampleFailed(`${method} ${path}: status ${status}: ${text.slice(0, 500)}`)
}
