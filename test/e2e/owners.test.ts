import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { context, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { NodeSDK } from '@opentelemetry/sdk-node'
import OpenAI from 'openai'
import { beforeAll, expect, test } from 'vitest'
import { type Api, apiByKey, apiByToken } from '../support/clients/api-reader.ts'
import { eventually } from '../support/eventually.ts'
import { type SharedMachine, sharedMachine } from '../support/shared-machine.ts'

let machine: SharedMachine
let api: Api

beforeAll(async () => {
  machine = await sharedMachine()
  api = apiByKey({ api_url: machine.service.base_url, login: machine.login })
})

type Task = {
  task_id: string
  calls: number
  user_id: string | null
  conversation_id: string | null
}

async function taskOf(task_id: string): Promise<Task | undefined> {
  const { status, body } = await api.get(`/api/v1/tasks/${encodeURIComponent(task_id)}`)
  return status === 200 ? (body as unknown as Task) : undefined
}

/** Exports every 200 ms, as an agent that runs for a while: in many exports, children first. */
function tracing() {
  const traceExporter = new OTLPTraceExporter({
    url: `${machine.service.base_url}/v1/traces`,
    headers: { 'X-API-Key': machine.login.project_key },
  })
  process.env['OTEL_BSP_SCHEDULE_DELAY'] = '200'
  const sdk = new NodeSDK({ traceExporter, serviceName: 'owners', instrumentations: [] })
  sdk.start()
  delete process.env['OTEL_BSP_SCHEDULE_DELAY']
  const stop = async () => {
    await sdk.shutdown()
    trace.disable()
    context.disable()
  }
  return { tracer: trace.getTracer('agent'), stop }
}

test('an agent that names its task on the root keeps its calls, and their loop is found there', async () => {
  const { tracer, stop } = tracing()
  const root = tracer.startSpan('agent', {
    attributes: {
      ...{ 'gen_ai.operation.name': 'invoke_agent', 'looptrace.task.id': 'refund 1' },
      ...{ 'user.id': 'bob', 'session.id': 'S-1' },
    },
  })
  const inside = trace.setSpan(context.active(), root)
  const trace_id = root.spanContext().traceId
  for (let step = 0; step < 7; step += 1) {
    const call = tracer.startSpan('chat', { attributes: callAttributes(step) }, inside)
    call.end()
    const tool = tracer.startSpan('tool', { attributes: toolAttributes(step) }, inside)
    tool.end()
    await sleep(150)
  }
  // Until its root is here, the trace is a task of its own.
  const provisional = await eventually('the calls', async () => {
    const task = await taskOf(trace_id)
    return task !== undefined && task.calls >= 4 && task
  })
  expect(provisional.user_id).toBeNull()
  root.end()
  await stop()
  const task = await eventually('the task', async () => {
    const found = await taskOf('refund 1')
    return found?.calls === 7 && found
  })
  expect(task.user_id).toBe('bob')
  expect(task.conversation_id).not.toBeNull()
  expect(await taskOf(trace_id)).toBeUndefined()
  const path = `/api/v1/tasks/${encodeURIComponent('refund 1')}`
  await eventually('the loop', async () => {
    const { body } = await api.get(`${path}/loops`)
    return (body['loops'] as unknown[]).length === 1
  })
  const { body } = await api.get(`${path}/timeline`)
  expect(body['totals']).toMatchObject({ calls: 7 })
})

function callAttributes(step: number) {
  const call = { type: 'tool_call', id: `c${step}`, name: 'search', arguments: { q: 'refund' } }
  return {
    ...{ 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'openai' },
    ...{ 'gen_ai.request.model': 'gpt-4o-mini', 'gen_ai.usage.input_tokens': 10 },
    'gen_ai.usage.output_tokens': 5,
    'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', parts: [call] }]),
  }
}

function toolAttributes(step: number) {
  return {
    ...{ 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'search' },
    ...{ 'gen_ai.tool.call.id': `c${step}`, 'gen_ai.tool.call.arguments': '{"q":"refund"}' },
    'gen_ai.tool.call.result': 'nothing found',
  }
}

test('a proxied call with traceparent and no task gets the task of the span that comes later', async () => {
  const { tracer, stop } = tracing()
  const root = tracer.startSpan('job', {
    attributes: { 'looptrace.task.id': 'proxied 1', 'user.id': 'ann' },
  })
  const { traceId, spanId } = root.spanContext()
  const openai = new OpenAI({
    apiKey: 'sk-provider',
    baseURL: `${machine.service.base_url}/v1`,
    defaultHeaders: {
      'X-API-Key': machine.login.project_key,
      traceparent: `00-${traceId}-${spanId}-01`,
    },
  })
  await openai.chat.completions.create({
    model: 'gpt-4o-mini',
    messages: [{ role: 'user', content: 'hello' }],
  })
  await eventually(
    'the call in a task of its trace',
    async () => (await taskOf(traceId))?.calls === 1,
  )
  root.end()
  await stop()
  const task = await eventually('the call in its task', async () => {
    const found = await taskOf('proxied 1')
    return found?.calls === 1 && found
  })
  expect(task.user_id).toBe('ann')
  expect(await taskOf(traceId)).toBeUndefined()
})

test('an erasure takes the spans of one of two people who share a trace; sent again, they stay away', async () => {
  const trace_id = randomBytes(16).toString('hex')
  const ids = { top: '1', ann: '2', bob: '3', annCall: '4', bobCall: '5' }
  const id = (name: keyof typeof ids) => ids[name].repeat(16)
  const spans = {
    ...{ annCall: spanOf(trace_id, id('annCall'), id('ann')) },
    ...{ bobCall: spanOf(trace_id, id('bobCall'), id('bob')) },
    ann: spanOf(trace_id, id('ann'), id('top'), { 'user.id': 'erased ann' }),
    bob: spanOf(trace_id, id('bob'), id('top'), { 'user.id': 'kept bob' }),
    top: spanOf(trace_id, id('top'), ''),
  }
  const stored = async () => {
    const now_ms = Date.now()
    const query = {
      ...{ entity: 'observations', select: ['observation_id'], limit: 100 },
      where: { field: 'trace_id', op: 'eq', value: trace_id },
      window: {
        from: new Date(now_ms - 3_600_000).toISOString(),
        to: new Date(now_ms + 60_000).toISOString(),
      },
    }
    const { status, body } = await api.post('/api/v2/observability/query', query)
    if (status !== 200) throw new Error(JSON.stringify(body))
    return (body['rows'] as { observation_id: string }[]).map((row) => row.observation_id)
  }
  const names = async () => {
    const found = await stored()
    const known = Object.keys(ids) as (keyof typeof ids)[]
    return known.filter((name) => found.includes(id(name)))
  }
  // Children first, in exports of their own.
  for (const span of Object.values(spans)) await exportSpans([span])
  await eventually('all spans', async () => (await names()).length === 5)
  const admin = await apiByToken({ api_url: machine.service.base_url, login: machine.login })
  const project = `project_id=${machine.login.project_id}`
  const path = '/api/v2/observability/erasures'
  const body = { user_id: 'erased ann', reason: 'asked by mail' }
  const asked = await admin.post(`${path}?${project}`, body)
  expect(asked.status).toBe(202)
  await eventually('the end of the erasure', async () => {
    const read = await admin.get(`${path}/${asked.body['erasure_id']}?${project}`)
    return read.body['receipt'] !== null && read.body['receipt'] !== undefined
  })
  expect(await names()).toEqual(['bob', 'bobCall'])
  await exportSpans([spans.annCall, spans.ann, spans.bobCall])
  await exportSpans([spanOf(trace_id, '6'.repeat(16), id('bob'))])
  // A row that is sent again is erased once it is known whose it is.
  await eventually('a later span, and no span of the erased user', async () => {
    const found = await names()
    return (await stored()).includes('6'.repeat(16)) && found.join() === 'bob,bobCall'
  })
})

function spanOf(traceId: string, spanId: string, parentSpanId: string, attributes: object = {}) {
  const start = BigInt(Date.now() - 60_000) * 1_000_000n
  return {
    ...{ traceId, spanId, parentSpanId, name: 'chat', kind: 3 },
    ...{ startTimeUnixNano: `${start}`, endTimeUnixNano: `${start + 1_000_000n}` },
    attributes: Object.entries({ 'gen_ai.operation.name': 'chat', ...attributes }).map(
      ([key, stringValue]) => ({ key, value: { stringValue } }),
    ),
  }
}

async function exportSpans(spans: readonly object[]): Promise<void> {
  const answer = await fetch(`${machine.service.base_url}/v1/traces`, {
    method: 'POST',
    headers: { 'X-API-Key': machine.login.project_key, 'content-type': 'application/json' },
    body: JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }),
  })
  expect(answer.status).toBe(200)
  await sleep(300)
}
