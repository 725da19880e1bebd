import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { type Clock, sleep, systemClock } from '../../kernel/time.ts'
import { chatCall } from './chat-call.ts'
import { type TasksApi, waitForCalls } from './sample-tasks-api.ts'
import { startScriptedProvider } from './scripted-provider/server.ts'

export type SmokeOptions = {
  /** Origin that receives completions and spans, without a slash at the end. */
  proxy_url: string
  /** Origin of the product APIs. */
  api_url: string
  /** With the scopes proxy:write, ingest:write, tasks:read and traces:read. */
  project_key: string
  /** Address of the scripted provider; the proxy's settings have to name it. */
  provider: { host: string; port: number }
  /** Longest wait for the service to answer, and again for each sent item to be readable. */
  wait_ms_max: number
  /** Receives a line for each successful step. */
  log: (line: string) => void
  fetch?: typeof globalThis.fetch
  clock?: Clock
}

/** A step of the test failed; the message names the step and the answer. */
class SmokeTestFailed extends Error {
  override readonly name = 'SmokeTestFailed'
}

/**
 * Tests an installation as its users do: sends a completion through the proxy, answered by a
 * scripted provider that runs here during the test, and a span by OTLP, and reads both from the API;
 * then plays the seeded scenario, removes its data, and reads the report. Leaves a task `smoke-…` with
 * one call and a trace with one span. Throws SmokeTestFailed, ChatCallFailed or SampleFailed.
 */
export async function smokeTest(options: SmokeOptions): Promise<void> {
  const { project_key, fetch = globalThis.fetch, clock = systemClock, wait_ms_max, log } = options
  const run_id = randomBytes(6).toString('hex')
  const task_id = `smoke-${run_id}`
  const provider = await startScriptedProvider({
    ...options.provider,
    script: { steps: [{ match: {}, reply: { content: answerOf(run_id) } }] },
    seen_requests_max: 0,
  })
  try {
    const wait: Wait = { clock, wait_ms_max }
    const content = await retryWithin(wait, () => complete(options, { fetch, task_id }))
    if (content !== answerOf(run_id)) {
      throw new SmokeTestFailed(`the completion is "${content}", expected "${answerOf(run_id)}"`)
    }
    log(`completion: answered through ${options.proxy_url}`)
    const span = await retryWithin(wait, () => sendSpan(options, { fetch, run_id, clock }))
    log(`span: accepted by ${options.proxy_url}`)

    const api: TasksApi = { url: options.api_url, project_key, fetch }
    await waitForCalls(api, { task_id, calls: 1 }, wait)
    log(`completion: read back as task ${task_id} from ${options.api_url}`)
    await retryWithin(wait, () => readTrace(api, span))
    log(`span: read back as trace ${span.trace_id} from ${options.api_url}`)
    const { scenario_id, duration_ms } = await playScenario(api, wait)
    log(`scenario: run ${scenario_id} found everything as expected after ${duration_ms} ms`)
    const report = await readReport(api)
    log(`report: ${report.done} of ${report.checks.length} checks are done`)
  } finally {
    await provider.stop()
  }
}

/** Returns the provider's answer, which is unique to this run. */
function answerOf(run_id: string): string {
  return `Looptrace hears you, run ${run_id}.`
}

type Wait = { clock: Clock; wait_ms_max: number }

const retryIntervalMs = 500
const answer_ms_max = 15_000

/** Retries a step until it succeeds; rethrows the last failure when time is up. */
async function retryWithin<T>({ clock, wait_ms_max }: Wait, step: () => Promise<T>): Promise<T> {
  for (const until_ms = clock.now_ms() + wait_ms_max; ; ) {
    try {
      return await step()
    } catch (error) {
      if (clock.now_ms() >= until_ms) throw error
    }
    await sleep(retryIntervalMs)
  }
}

async function complete(
  { proxy_url, project_key }: SmokeOptions,
  { fetch, task_id }: { fetch: typeof globalThis.fetch; task_id: string },
): Promise<string | null> {
  const headers = {
    'x-api-key': project_key,
    authorization: 'Bearer none-is-needed',
    'x-provider': 'scripted',
    'x-task-id': task_id,
    'x-task-name': 'Smoke test',
  }
  const target = { url: `${proxy_url}/v1`, headers, fetch, timeout_ms: answer_ms_max }
  const messages = [{ role: 'user' as const, content: 'Do you hear me?' }]
  const body = { model: 'scripted', messages, tools: undefined, stream: false }
  return (await chatCall(target, body)).content
}

type SentSpan = { trace_id: string; name: string }

/** Sends one span as OTLP JSON: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding */
async function sendSpan(
  { proxy_url, project_key }: SmokeOptions,
  { fetch, run_id, clock }: { fetch: typeof globalThis.fetch; run_id: string; clock: Clock },
): Promise<SentSpan> {
  const trace_id = randomBytes(16).toString('hex')
  const name = `smoke test ${run_id}`
  const end_ms = clock.now_ms()
  const span = {
    traceId: trace_id,
    spanId: randomBytes(8).toString('hex'),
    name,
    kind: 1,
    startTimeUnixNano: `${end_ms - 1}000000`,
    endTimeUnixNano: `${end_ms}000000`,
  }
  const resource = {
    attributes: [{ key: 'service.name', value: { stringValue: 'looptrace-smoke-test' } }],
  }
  const answer = await fetch(`${proxy_url}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': project_key },
    body: JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ spans: [span] }] }] }),
    signal: AbortSignal.timeout(answer_ms_max),
  })
  if (!answer.ok) throw await unexpected('POST /v1/traces', answer)
  return { trace_id, name }
}

async function readTrace(
  { url, project_key, fetch }: TasksApi,
  { trace_id, name }: SentSpan,
): Promise<void> {
  const path = `/api/v2/observability/traces/${trace_id}/explorer`
  const answer = await fetch(url + path, {
    headers: { 'x-api-key': project_key },
    signal: AbortSignal.timeout(answer_ms_max),
  })
  if (!answer.ok) throw await unexpected(`GET ${path}`, answer)
  if ((await answer.text()).includes(name)) return
  throw new SmokeTestFailed(`GET ${path}: the span "${name}" is not in the trace`)
}

const scenarioPath = '/api/v1/onboarding/seeded-reliability-scenario'

const scenarioSchema = z.looseObject({
  scenario_id: z.string(),
  state: z.enum(['running', 'ended']),
  outcome: z.string().nullable(),
  error: z.string().nullable(),
  duration_ms: z.number().nullable(),
})

/** Plays the seeded scenario to its end, and removes its data. */
async function playScenario(
  api: TasksApi,
  { clock, wait_ms_max }: Wait,
): Promise<z.output<typeof scenarioSchema>> {
  const until_ms = clock.now_ms() + wait_ms_max
  const body = { force_rerun: true }
  let run = scenarioSchema.parse(await callJson(api, 'POST', scenarioPath, body))
  while (run.state === 'running' && clock.now_ms() < until_ms) {
    await sleep(retryIntervalMs)
    const path = `${scenarioPath}/${run.scenario_id}`
    run = scenarioSchema.parse(await callJson(api, 'GET', path))
  }
  if (run.outcome !== 'as_expected') {
    const why = run.error ?? `it was ${run.state} after ${wait_ms_max} ms`
    throw new SmokeTestFailed(`scenario ${run.scenario_id}: ${why}`)
  }
  await callJson(api, 'DELETE', scenarioPath)
  return run
}

const reportSchema = z.looseObject({ done: z.number(), checks: z.array(z.looseObject({})) })

async function readReport(api: TasksApi): Promise<z.output<typeof reportSchema>> {
  return reportSchema.parse(await callJson(api, 'GET', '/api/v1/onboarding/report'))
}

async function callJson(
  { url, project_key, fetch }: TasksApi,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: object,
): Promise<unknown> {
  const answer = await fetch(url + path, {
    method,
    headers: {
      'x-api-key': project_key,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(answer_ms_max),
  })
  if (!answer.ok) throw await unexpected(`${method} ${path}`, answer)
  return answer.json()
}

async function unexpected(request: string, answer: Response): Promise<SmokeTestFailed> {
  const text = (await answer.text()).slice(0, 500)
  return new SmokeTestFailed(`${request}: status ${answer.status}: ${text}`)
}
