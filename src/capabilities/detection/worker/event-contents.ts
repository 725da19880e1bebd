import { itemsOf, type JsonObject, objectFrom, parsedJson } from '../../../kernel/json-values.ts'
import type { Observation } from '../../../model/observation.ts'
import type { GenAiEvent, ObservationStore } from '../../storage/index.ts'
import { type Place, spanKey } from '../reconstruction/index.ts'

/** Maximum events of one statement, and of their bodies. */
const events_max = 10_000
const events_bytes_max = 16 * 1024 * 1024

/** Tells whether events can have the content of an observation: a span of a call without any. */
export function isBare({ source, type, content_state }: Observation): boolean {
  return source === 'otlp' && type === 'generation' && content_state === 'none'
}

/** Returns the places of calls without content whose events have come. Asks nothing for none. */
export async function findLateContents(
  store: Pick<ObservationStore, 'genAiEvents'>,
  project_id: string,
  places: readonly Place[],
): Promise<ReadonlySet<string>> {
  const events = await readEvents(store, project_id, places)
  return new Set([...events].filter(([, own]) => hasContent(readSent(own))).map(([place]) => place))
}

async function readEvents(
  store: Pick<ObservationStore, 'genAiEvents'>,
  project_id: string,
  places: readonly Place[],
): Promise<ReadonlyMap<string, readonly GenAiEvent[]>> {
  if (places.length === 0) return new Map()
  const asked = { places, limit: events_max, bytes_max: events_bytes_max }
  return Map.groupBy(await store.genAiEvents(project_id, asked), spanKey)
}

/**
 * Returns calls with the content of their events. OpenTelemetry's instrumentations send it beside
 * the spans, as log records.
 */
export async function addEventContents(
  store: Pick<ObservationStore, 'genAiEvents'>,
  project_id: string,
  rows: readonly Observation[],
): Promise<Observation[]> {
  const events = await readEvents(store, project_id, rows.filter(isBare))
  return rows.map((row) => withEventContent(row, events.get(spanKey(row)) ?? []))
}

/** Returns a call with the messages of its events, in their order; unchanged without messages. */
export function withEventContent(row: Observation, events: readonly GenAiEvent[]): Observation {
  if (!isBare(row)) return row
  const sent = readSent(events)
  if (!hasContent(sent)) return row
  return {
    ...row,
    input: sent.input.length === 0 ? '' : JSON.stringify(sent.input),
    output: sent.output === undefined ? '' : JSON.stringify(sent.output),
    finish_reason: row.finish_reason || sent.finish_reason,
    content_state: 'full',
  }
}

function hasContent({ input, output }: SentContent): boolean {
  return input.length > 0 || output !== undefined
}

type SentContent = { input: unknown[]; output: unknown[] | undefined; finish_reason: string }

const messageName = /^gen_ai\.(system|user|assistant|tool)\.message$/
const choiceName = 'gen_ai.choice'
const detailsName = 'gen_ai.client.inference.operation.details'

function readSent(events: readonly GenAiEvent[]): SentContent {
  const sent: SentContent = { input: [], output: undefined, finish_reason: '' }
  for (const { name, body } of events) {
    const content = objectFrom(parsedJson(body)) ?? { content: body }
    const role = messageName.exec(name)?.[1]
    if (role !== undefined) sent.input.push({ role, ...content })
    else if (name === choiceName && sent.output === undefined) takeChoice(sent, content)
    else if (name === detailsName) takeDetails(sent, content)
  }
  return sent
}

/** Takes the first choice; some instrumentations put its tool calls beside the message. */
function takeChoice(sent: SentContent, choice: JsonObject): void {
  const message = objectFrom(choice['message']) ?? choice
  const calls = message['tool_calls'] ?? choice['tool_calls']
  const tool_calls = calls === undefined ? {} : { tool_calls: calls }
  sent.output = [{ role: 'assistant', content: message['content'] ?? '', ...tool_calls }]
  const reason = choice['finish_reason']
  if (typeof reason === 'string') sent.finish_reason = reason
}

/** Takes the messages of an event with the whole call. */
function takeDetails(sent: SentContent, details: JsonObject): void {
  const instructions = listIn(details['gen_ai.system_instructions'])
  const input = listIn(details['gen_ai.input.messages'])
  const output = listIn(details['gen_ai.output.messages'])
  if (input.length > 0) {
    const system = instructions.length > 0 ? [{ role: 'system', parts: instructions }] : []
    sent.input = [...system, ...input]
  }
  if (output.length > 0) sent.output = [...output]
}

function listIn(value: unknown): readonly unknown[] {
  return itemsOf(typeof value === 'string' ? parsedJson(value) : value)
}
