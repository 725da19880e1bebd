import {
  createMapper,
  currentContract,
  jsonDecoder,
} from '../../src/capabilities/edge/otlp/index.ts'
import { createPricing } from '../../src/capabilities/records/pricing/index.ts'
import type { Observation } from '../../src/model/observation.ts'
import type { DetectionApi } from './detection.ts'
import type { PlainSpan, PlainTraces } from './otlp-messages.ts'
import { storedFrom } from './otlp-spans.ts'

/** A tool call of an agent and its result. */
export type AgentTurn = { name: string; input: object; result: string; failed?: boolean }

/** Spans as an agent SDK sends them. */
export type AgentSpans = { scope: string; spans: PlainSpan[] }

const mapper = createMapper({ contract: currentContract, pricing: createPricing() })
const decoder = jsonDecoder()

/** The rows that spans become after decoder, mapping and pricing. */
export function rowsOfSpans(project_id: string, { scope, spans }: AgentSpans): Observation[] {
  const scopeSpans = [{ scope: { name: scope }, spans }]
  const traces: PlainTraces = { resourceSpans: [{ scopeSpans }] }
  const request = decoder.traces(Buffer.from(JSON.stringify(traces)))
  const about = { project_id, environment: '', release: '', received_at_ms: 1_790_000_100_000 }
  return mapper.traces(request, about).records.observations.map(storedFrom)
}

/** Stores the rows of a task, lets the worker analyse it, and reads it back. */
export async function readTask(api: DetectionApi, rows: readonly Observation[]) {
  const [first] = rows
  if (first === undefined) throw new Error('expected rows')
  const { project_id, task_id } = first
  await api.bench.bring(rows)
  await api.bench.untilDetected()
  const read = async (path: string) => (await api.get(project_id, `/tasks/${task_id}${path}`)).body
  return { calls: await read('/tool-calls'), loops: await read('/loops'), task: await read('') }
}

/** One of the `tool_calls` that the API returns for a task. */
export type ShownToolCall = { name: string; arguments: { text: string }; result: { text: string } }
