import { itemsOf, type JsonObject, objectFrom, parsedJson } from '../../../kernel/json-values.ts'
import type { Observation } from '../../../model/observation.ts'
import { type GenAiEvent, identities_max, type ObservationStore } from '../../storage/index.ts'
import { type Place, spanKey } from '../reconstruction/index.ts'

/** Maximum events of one statement, and of their bodies. */
const events_max = 10_000
const events_bytes_max = 16 * 1024 * 1024

type Store = Pick<ObservationStore, 'genAiEvents' | 'eventCounts'>

/** A call whose content is in events, with the number of those that were read. */
export type EventCall = Place & { events: number }

/** Tells whether events can have the content of an observation: a span of a call without any. */
function isBare({ source, type, content_state }: Observation): boolean {
  return source === 'otlp' && type === 'generation' && content_state === 'none'
}

/** Returns the places of calls of which more events have come. Asks nothing for none. */
export async function findLateContents(
  store: Pick<ObservationStore, 'eventCounts'>,
  project_id: string,
  calls: readonly EventCall[],
): Promise<ReadonlySet<string>> {
  const counts = await countEvents(store, project_id, calls)
  const late = calls.filter((call) => (counts.get(spanKey(call)) ?? 0) > call.events)
  return new Set(late.map(spanKey))
}

/** Counts the events with content of calls, in as many statements as they need. */
async function countEvents(
  store: Pick<ObservationStore, 'eventCounts'>,
  project_id: string,
  calls: readonly Place[],
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  for (let at = 0; at < calls.length; at += identities_max) {
    const places = calls.slice(at, at + identities_max)
    const found = await store.eventCounts(project_id, { places, names: contentNames })
    for (const one of found) counts.set(spanKey(one), one.events)
  }
  return counts
}

/**
 * Reads the events of calls that have some. Where the limits of a statement cut them, the rest is
 * read by others; only those of a single call can be cut.
 */
async function readEvents(
  store: Store,
  project_id: string,
  calls: readonly EventCall[],
): Promise<Map<string, readonly GenAiEvent[]>> {
  const read = new Map<string, readonly GenAiEvent[]>()
  const parts = calls.length === 0 ? [] : [calls]
  for (let places = parts.pop(); places !== undefined; places = parts.pop()) {
    const asked = { places, limit: events_max, bytes_max: events_bytes_max }
    const found = Map.groupBy(await store.genAiEvents(project_id, asked), spanKey)
    for (const place of places) read.set(spanKey(place), found.get(spanKey(place)) ?? [])
    const cut = places.filter((place) => countContents(read.get(spanKey(place))) < place.events)
    const middle = cut.length < places.length ? cut.length : Math.ceil(cut.length / 2)
    if (cut.length === 0 || places.length === 1) continue
    parts.push(...[cut.slice(0, middle), cut.slice(middle)].filter(({ length }) => length > 0))
  }
  return read
}

function countContents(events: readonly GenAiEvent[] = []): number {
  return events.filter(({ name }) => contentNames.includes(name)).length
}

/** Calls with the content of their events, and those whose content is there, or can still come. */
export type ReadCalls = { rows: Observation[]; calls: EventCall[] }

/**
 * Returns calls with the content of their events. OpenTelemetry's instrumentations send it beside
 * the spans, as log records.
 */
export async function addEventContents(
  store: Store,
  project_id: string,
  rows: readonly Observation[],
): Promise<ReadCalls> {
  const bare = rows.filter(isBare)
  const counts = await countEvents(store, project_id, bare)
  const calls = bare.map(({ trace_id, observation_id }) => {
    const place = { trace_id, observation_id }
    return { ...place, events: counts.get(spanKey(place)) ?? 0 }
  })
  const some = calls.filter(({ events }) => events > 0)
  const events = await readEvents(store, project_id, some)
  const read = rows.map((row) => withEventContent(row, events.get(spanKey(row)) ?? []))
  return { rows: read, calls }
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

/** The names of all events that have content. */
const contentNames: readonly string[] = [
  ...['system', 'user', 'assistant', 'tool'].map((role) => `gen_ai.${role}.message`),
  choiceName,
  detailsName,
]

function readSent(events: readonly GenAiEvent[]): SentContent {
  const sent: SentContent = { input: [], output: undefined, finish_reason: '' }
  for (const { name, body } of events) {
    const content = readBody(body)
    const role = messageName.exec(name)?.[1]
    if (role !== undefined) sent.input.push({ role, ...content })
    else if (name === choiceName && sent.output === undefined) takeChoice(sent, content)
    else if (name === detailsName) takeDetails(sent, content)
  }
  return sent
}

/** Reads a body or a message: JSON, JSON in a string, or a plain text. */
function readBody(text: string): JsonObject {
  const value = parsedJson(text)
  const inner = typeof value === 'string' ? parsedJson(value) : undefined
  return (
    objectFrom(value) ?? objectFrom(inner) ?? { content: typeof value === 'string' ? value : text }
  )
}

/** Takes the first choice; some instrumentations put its tool calls beside the message. */
function takeChoice(sent: SentContent, choice: JsonObject): void {
  const { message: given } = choice
  const message = typeof given === 'string' ? readBody(given) : (objectFrom(given) ?? choice)
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
