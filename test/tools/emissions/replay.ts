import { runDetectors } from '../../../src/capabilities/detection/analyse/run-detectors.ts'
import type { FindingDraft } from '../../../src/capabilities/detection/contract.ts'
import { reconstruct } from '../../../src/capabilities/detection/reconstruction/index.ts'
import { defaultDetectionSettings } from '../../../src/capabilities/detection/settings/detector-settings.ts'
import {
  createMapper,
  currentContract,
  jsonDecoder,
  protobufDecoder,
} from '../../../src/capabilities/edge/otlp/index.ts'
import { placeRows } from '../../../src/capabilities/ingest/traces/place-rows.ts'
import { exchangeToObservation } from '../../../src/capabilities/records/exchanges/mapping/exchange-to-records.ts'
import { createPricing } from '../../../src/capabilities/records/pricing/index.ts'
import type { ExchangeFacts } from '../../../src/model/exchange.ts'
import type { Observation } from '../../../src/model/observation.ts'
import { plainFacts } from '../../support/exchange-facts.ts'
import { type PlainTraces, tracesProtobuf } from '../../support/otlp-messages.ts'
import { storedFrom } from '../../support/otlp-spans.ts'
import { endpointOf } from '../../support/provider-sessions.ts'
import type { RecordedCase } from './recording.ts'

const pricing = createPricing()
const project_id = '0198c0de-0000-7000-8000-00000000000a'
const start_ns = 1_790_000_000_000_000_000n
const second_ns = 1_000_000_000n

/** Returns the rows of a case's model calls as the proxy records them, below one task id. */
export function rowsOfCalls({ calls }: RecordedCase): Observation[] {
  return calls.map(({ request, response }, at) => {
    const body = Buffer.from(JSON.stringify(request.body))
    const answer = Buffer.from(response.body)
    const start = start_ns + BigInt(at) * 2n * second_ns
    const [, path_model] = /\/models\/([^/:]+):/.exec(request.path) ?? []
    const endpoint = endpointOfCall(request)
    const facts: ExchangeFacts = {
      ...plainFacts,
      project_id,
      endpoint,
      provider: providerOf(endpoint),
      ...(path_model !== undefined && { path_model }),
      trace_id: `0198c0de-0000-7000-8000-${String(at + 1).padStart(12, '0')}`,
      observation_id: String(at + 1).padStart(16, '0'),
      start_time: `${start}`,
      end_time: `${start + second_ns}`,
      first_token_time: response.streamed ? `${start + second_ns / 2n}` : null,
      status_code: response.status,
      streamed: response.streamed,
      usage_requested_by_us: asksNoUsage(request.body),
      request_bytes: body.length,
      response_bytes: answer.length,
      response_type: response.headers['content-type'] ?? '',
      task_id: 'task-1',
    }
    const context = { pricing, countTokens: () => 0, response_bytes_max: 1_000_000 }
    return exchangeToObservation({ facts, request: body, response: answer }, `m${at}`, context)
  })
}

/** Streams of chat completions have usage only if the client, or else the proxy, asks for it. */
function asksNoUsage(body: unknown): boolean {
  const { messages, stream, stream_options } = body as Record<string, unknown>
  return messages !== undefined && stream === true && stream_options === undefined
}

function endpointOfCall(
  request: RecordedCase['calls'][number]['request'],
): ExchangeFacts['endpoint'] {
  if (request.path.endsWith('/chat/completions')) return 'chat.completions'
  const endpoint = endpointOf(request)
  if (endpoint === undefined) throw new Error(`no format for ${request.path}`)
  return endpoint
}

function providerOf(endpoint: ExchangeFacts['endpoint']): string {
  if (endpoint === 'messages') return 'anthropic'
  return endpoint === 'generate_content' ? 'gemini' : 'openai'
}

const mapper = createMapper({ contract: currentContract, pricing })
const decoders = { json: jsonDecoder(), protobuf: protobufDecoder() }
const origin = { project_id, environment: '', release: '', received_at_ms: 1_790_000_100_000 }

/** Returns the exports of spans of a case; those of log records are left out. */
export function tracesOf({ exports }: RecordedCase): PlainTraces[] {
  return exports.flatMap(({ body }) => ('resourceSpans' in body ? [body] : []))
}

/** Returns the rows of one export in either encoding, as the endpoint stores them. */
export function rowsOfExport(body: PlainTraces, encoding: 'json' | 'protobuf'): Observation[] {
  const bytes = encoding === 'json' ? Buffer.from(JSON.stringify(body)) : tracesProtobuf(body)
  const request = decoders[encoding].traces(bytes)
  const { records, rejected } = mapper.traces(request, origin)
  if (rejected.size > 0) throw new Error(`rejected: ${[...rejected.keys()].join(', ')}`)
  return records.observations.map(storedFrom)
}

/** Returns the rows of all exports of a case as they are stored in the end. */
export function rowsOfExports(recorded: RecordedCase): Observation[] {
  return placed(tracesOf(recorded).flatMap((body) => rowsOfExport(body, 'json')))
}

/**
 * Gives rows their owners, marks calls that another row counts, and sorts them as a worker reads
 * them.
 */
export function placed(rows: readonly Observation[]): Observation[] {
  const changes = new Map(placeRows(rows, []).changes.map(({ row, to }) => [row as object, to]))
  return sorted(rows.map((row) => ({ ...row, ...changes.get(row) })))
}

function sorted(rows: readonly Observation[]): Observation[] {
  return rows.toSorted((a, b) => {
    if (a.start_time !== b.start_time) return a.start_time < b.start_time ? -1 : 1
    return a.observation_id < b.observation_id ? -1 : 1
  })
}

/** What the detectors say of one task. */
export type TaskVerdict = {
  findings: readonly FindingDraft[]
  not_checked: readonly { detector: string; reason: string }[]
}

const settings = defaultDetectionSettings()

/** Runs all detectors over the tasks of some rows, one after another. */
export function verdictsOf(rows: readonly Observation[]): TaskVerdict[] {
  return [...Map.groupBy(rows, ({ task_id }) => task_id).values()].map((task) => {
    const { findings, not_checked } = runDetectors(reconstruct(task), settings)
    return { findings, not_checked }
  })
}
