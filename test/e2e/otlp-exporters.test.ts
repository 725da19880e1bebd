import { Metadata } from '@grpc/grpc-js'
import { context, SpanKind, trace } from '@opentelemetry/api'
import { OTLPTraceExporter as GrpcExporter } from '@opentelemetry/exporter-trace-otlp-grpc'
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { NodeSDK } from '@opentelemetry/sdk-node'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sleep } from '../../src/kernel/time.ts'
import { type Api, apiByKey } from '../support/clients/api-reader.ts'
import { eventually } from '../support/eventually.ts'
import { scrape } from '../support/metrics.ts'
import { runPython } from '../support/python.ts'
import { type SharedMachine, sharedMachine } from '../support/shared-machine.ts'

let machine: SharedMachine
let api: Api

beforeAll(async () => {
  machine = await sharedMachine()
  api = apiByKey({ api_url: machine.service.base_url, login: machine.login })
})

/** Runs an unmodified exporter with an endpoint and a key; resolves with the trace id. */
type RunExporter = (task_id: string) => Promise<string>

const base_url = () => machine.service.base_url
const grpc = () => machine.service.otlp_grpc_address
const key = () => machine.login.project_key
const headers = () => ({ 'X-API-Key': key() })
const url = () => `${base_url()}/v1/traces`

const exporters: [string, RunExporter][] = [
  [
    'exporter-trace-otlp-proto of Node',
    (task) => byNode(task, new ProtobufExporter({ url: url(), headers: headers() })),
  ],
  [
    'exporter-trace-otlp-proto of Node with gzip',
    (task) =>
      withEnvironment({ OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip' }, () =>
        byNode(task, new ProtobufExporter({ url: url(), headers: headers() })),
      ),
  ],
  [
    'exporter-trace-otlp-http (JSON) of Node',
    (task) => byNode(task, new JsonExporter({ url: url(), headers: headers() })),
  ],
  [
    'exporter-trace-otlp-grpc of Node',
    (task) => {
      const metadata = new Metadata()
      metadata.set('x-api-key', key())
      return byNode(task, new GrpcExporter({ url: `http://${grpc()}`, metadata }))
    },
  ],
  [
    'an exporter of Node that is set up by the environment alone',
    (task) =>
      withEnvironment(
        {
          OTEL_EXPORTER_OTLP_ENDPOINT: base_url(),
          OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer ${key()}`,
        },
        () => byNode(task, new ProtobufExporter()),
      ),
  ],
  [
    'opentelemetry-exporter-otlp-proto-http of Python',
    (task) => byPython('http', base_url(), task),
  ],
  ['opentelemetry-exporter-otlp-proto-grpc of Python', (task) => byPython('grpc', grpc(), task)],
]

/** `service.version` has no dedicated option. */
const resource = { OTEL_RESOURCE_ATTRIBUTES: 'service.version=1.2.3' }

beforeAll(() => void Object.assign(process.env, resource))
afterAll(() => removeVariables(resource))

test.each(exporters)('%s: its spans are stored and can be read', async (name, run) => {
  const before = await otlpLedger()
  const task_id = `run of ${name}`
  const trace_id = await run(task_id)
  const task = await eventually(
    'the task',
    async () => {
      const { status, body } = await api.get(`/api/v1/tasks/${encodeURIComponent(task_id)}`)
      return status === 200 && body
    },
    { timeout_ms: 20_000, interval_ms: 50 },
  )
  expect(task).toMatchObject({
    calls: 1,
    errors: 0,
    implicit: false,
    release: '1.2.3',
    models: ['gpt-4.1-mini-2025-04-14'],
    providers: ['openai'],
    tokens: { input_uncached: 120, output_visible: 30, total: 150, estimated_calls: 0 },
    cost_usd: '0.000096',
  })
  expect(await modelCallOf(task_id)).toMatchObject({
    trace_id: asUuid(trace_id),
    type: 'generation',
    name: 'chat gpt-4.1-mini',
    status: 'ok',
    model: 'gpt-4.1-mini-2025-04-14',
    finish_reason: 'stop',
    tokens: { source: 'provider' },
  })
  const { body } = await api.get(`/api/v2/observability/traces/${trace_id}/events`)
  expect(body['events']).toMatchObject([
    { name: 'first token', attributes: { after_ms: '12' } },
    { name: 'exception', level: 'error', attributes: { 'exception.message': 'no such city' } },
  ])
  const after = await eventually('the ledger', async () => {
    const now = await otlpLedger()
    return now.accepted === before.accepted + 3 && now
  })
  expect(after).toMatchObject({
    requests: before.requests + 1,
    stored: before.stored + 3,
    rejected: 0,
    pending: 0,
    lost: 0,
  })
})

test('the exporter really sends gzip', async () => {
  const value = await scrape(machine.service.management_url)
  const bytes = (state: string) =>
    value('looptrace_otlp_received_bytes_total', { transport: 'http', state })
  expect(bytes('packed')).toBeGreaterThan(0)
  expect(bytes('packed')).toBeLessThan(bytes('unpacked'))
})

type Sums = Record<'requests' | 'accepted' | 'stored' | 'rejected' | 'pending' | 'lost', number>

async function otlpLedger(): Promise<Sums> {
  const { body } = await api.get('/api/v2/observability/ledger')
  const paths = body['paths'] as (Sums & { path: string })[]
  const found = paths.find(({ path }) => path === 'otlp')
  if (found === undefined) throw new Error('the ledger has no path otlp')
  return found
}

async function modelCallOf(task_id: string): Promise<object | undefined> {
  const { body } = await api.get(`/api/v1/tasks/${encodeURIComponent(task_id)}/timeline`)
  return (body['entries'] as { role: string }[]).find(({ role }) => role === 'model_call')
}

function asUuid(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** One agent run, traced with sdk-node, the same that otlp_exporter.py traces. */
async function byNode(task_id: string, traceExporter: ProtobufExporter | GrpcExporter) {
  const sdk = new NodeSDK({ traceExporter, serviceName: 'node-shop', instrumentations: [] })
  sdk.start()
  try {
    const tracer = trace.getTracer('node-test')
    const attributes = {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'buyer',
      'looptrace.task.id': task_id,
    }
    return await tracer.startActiveSpan('invoke_agent buyer', { attributes }, async (root) => {
      const chat = tracer.startSpan('chat gpt-4.1-mini', {
        kind: SpanKind.CLIENT,
        attributes: {
          'gen_ai.operation.name': 'chat',
          'gen_ai.provider.name': 'openai',
          'gen_ai.request.model': 'gpt-4.1-mini',
          'gen_ai.response.model': 'gpt-4.1-mini-2025-04-14',
          'gen_ai.usage.input_tokens': 120,
          'gen_ai.usage.output_tokens': 30,
          'gen_ai.response.finish_reasons': ['stop'],
        },
      })
      chat.addEvent('first token', { after_ms: 12 })
      chat.end()
      // Each span has a clock of its own, which differs from others by up to a millisecond.
      await sleep(3)
      const tool = tracer.startSpan('execute_tool weather', {
        attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'weather' },
      })
      tool.recordException(new Error('no such city'))
      tool.end()
      root.end()
      return root.spanContext().traceId
    })
  } finally {
    await sdk.shutdown()
    trace.disable()
    context.disable()
  }
}

async function byPython(transport: 'http' | 'grpc', endpoint: string, task_id: string) {
  const written = await runPython('otlp_exporter.py', [transport, endpoint, key(), task_id])
  return written.trim()
}

/** Sets the variables while the work creates its exporter and exports. */
async function withEnvironment<T>(
  variables: Record<string, string>,
  work: () => Promise<T>,
): Promise<T> {
  Object.assign(process.env, variables)
  try {
    return await work()
  } finally {
    removeVariables(variables)
  }
}

function removeVariables(variables: Record<string, string>): void {
  for (const name of Object.keys(variables)) delete process.env[name]
}
