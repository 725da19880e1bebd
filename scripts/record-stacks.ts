import { mkdir, realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { otlpMessage, type PlainLogs, type PlainTraces } from '../test/support/otlp-messages.ts'
import { chooseStacks, runEach } from '../test/tools/emissions/each-stack.ts'
import { type Environment, environmentOf } from '../test/tools/emissions/environments.ts'
import {
  caseNames,
  type RecordedCase,
  type Recording,
  recordingsFolder,
} from '../test/tools/emissions/recording.ts'
import {
  type Received,
  type RecordingServer,
  startRecordingServer,
} from '../test/tools/emissions/recording-server.ts'
import { runProgram } from '../test/tools/emissions/run-program.ts'
import { agentCases, usageOf } from '../test/tools/emissions/scripted-agent.ts'
import {
  placesIn,
  withoutKeys,
  withoutMachine,
  withoutPlaces,
} from '../test/tools/emissions/scrub.ts'
import type { Stack } from '../test/tools/emissions/stacks.ts'

/**
 * Records what stacks send: `node scripts/record-stacks.ts [stack…]`, all of them by default. Each
 * program runs in every case against a scripted model that also takes its telemetry. Needs the package
 * registries once for each stack; writes test/fixtures/emissions. A stack that fails is named at the end, and its
 * recording stays.
 */
const chosen = chooseStacks(process.argv.slice(2))

const key = 'lt_recorded_key'
const repository = join(import.meta.dirname, '..')

async function record(stack: Stack, server: RecordingServer): Promise<void> {
  const environment = await environmentOf(stack)
  const cases: RecordedCase[] = []
  for (const name of caseNames) cases.push(await recordCase(name, { stack, environment, server }))
  const { name, language } = stack
  const recording: Recording = { stack: name, language, packages: environment.versions, cases }
  const folders = [environment.folder, await realpath(environment.folder), repository]
  const text = withoutPlaces(JSON.stringify(recording), { url: server.url, key, folders })
  const places = placesIn(text, folders)
  if (places.length > 0) throw new Error(`the recording names this machine: ${places.join(', ')}`)
  const bytes = gzipSync(text, { level: 9 })
  await writeFile(join(recordingsFolder, `${name}.json.gz`), bytes)
  const sums = cases.map(
    (one) => `${one.name} ${one.calls.length} calls, ${one.exports.length} exports`,
  )
  console.log(`${name}: ${bytes.length} bytes; ${sums.join('; ')}`)
}

async function recordCase(
  name: RecordedCase['name'],
  {
    stack,
    environment,
    server,
  }: { stack: Stack; environment: Environment; server: RecordingServer },
): Promise<RecordedCase> {
  server.begin(name === 'work' ? agentCases.work : agentCases.loop)
  const target = { url: server.url, key, streamed: name === 'loop_streamed' }
  await runProgram(stack, environment, target)
  return caseFrom(name, server.received())
}

function caseFrom(
  name: RecordedCase['name'],
  received: ReturnType<RecordingServer['received']>,
): RecordedCase {
  const recorded: RecordedCase = { name, calls: [], exports: [], others: [] }
  for (const request of received) {
    if (request.call !== undefined) recorded.calls.push(callOf(request, request.call))
    else if (/\/v1\/(traces|logs)$/.test(request.path)) recorded.exports.push(exportOf(request))
    else recorded.others.push(`${request.method} ${request.path}`)
  }
  return recorded
}

function callOf(request: Received, at: number): RecordedCase['calls'][number] {
  const { method, path, headers, body, answer } = request
  const streamed = answer.content_type === 'text/event-stream'
  return {
    request: {
      method,
      path,
      headers: withoutKeys(headers),
      body: JSON.parse(body.toString('utf8')),
    },
    response: {
      status: answer.status,
      headers: { 'content-type': answer.content_type },
      body: answer.body_to_proxy,
      streamed,
    },
    usage: usageOf(at),
  }
}

function exportOf({ path, headers, body }: Received): RecordedCase['exports'][number] {
  const isJson = (headers['content-type'] ?? '').startsWith('application/json')
  const name = path.endsWith('/logs') ? 'ExportLogsServiceRequest' : 'ExportTraceServiceRequest'
  const read = isJson ? JSON.parse(body.toString('utf8')) : plainFrom(name, body)
  const clean = withoutMachine(read) as PlainTraces | PlainLogs
  return { path, headers: withoutKeys(headers), body: clean }
}

/** Converts an export in protobuf to OTLP/JSON: ids are hex there, and 64-bit integers text. */
function plainFrom(name: string, bytes: Buffer): unknown {
  const type = otlpMessage(name)
  return withHexIds(type.toObject(type.decode(bytes), { longs: String, bytes: String }))
}

const idFields = new Set(['traceId', 'spanId', 'parentSpanId'])

function withHexIds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withHexIds)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, field]) => {
    const isId = idFields.has(name) && typeof field === 'string'
    return [name, isId ? Buffer.from(field, 'base64').toString('hex') : withHexIds(field)]
  })
  return Object.fromEntries(entries)
}

await using server = await startRecordingServer()
await mkdir(recordingsFolder, { recursive: true })
await runEach(chosen, (stack) => record(stack, server))
