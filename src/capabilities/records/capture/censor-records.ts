import { isContentAttribute } from '../../../model/content-attributes.ts'
import type {
  CorrelationDraft,
  EventDraft,
  LinkDraft,
  ObservationDraft,
  Text,
  TextPairs,
  TraceDraft,
} from '../../../model/ingest-records.ts'
import type { CapturePolicy, Masker } from './contract.ts'
import { maskText } from './mask-text.ts'

/** Censored records, the indices of changed ones, and the number of dropped ones. */
export type Censored<T> = { records: T[]; changed: Set<number>; left_out: number }

/** Removes content that a policy does not keep, by kind of record. */
export type Censor = {
  traces(records: TraceDraft[]): Censored<TraceDraft>
  observations(records: ObservationDraft[]): Censored<ObservationDraft>
  events(records: EventDraft[]): Censored<EventDraft>
  links(records: LinkDraft[]): Censored<LinkDraft>
  correlations(records: CorrelationDraft[]): Censored<CorrelationDraft>
}

/**
 * Returns the censor of a policy; undefined when it keeps sampled records unchanged.
 *
 * `metadata_only` keeps measurements, names, ids, types of errors and the metadata that clients
 * add. It leaves out content and texts that may quote it: inputs and outputs, arguments and results
 * of tools, bodies of events, attributes with content (`isContentAttribute`), messages and stack
 * traces of errors, and baggage.
 */
export function censorOf({ content, masker }: CapturePolicy): Censor | undefined {
  const drops = content === 'metadata_only'
  if (!drops && masker === undefined) return undefined
  const step = <T extends object>(leaveOut: (record: T) => T, mask: Masking<T>) => {
    return (records: T[]) =>
      censored(records, (record) => {
        const kept = drops ? leaveOut(record) : record
        return masker === undefined ? kept : mask(kept, masker)
      })
  }
  return {
    traces: step(traceWithoutContent, maskTrace),
    observations: step(observationWithoutContent, maskObservation),
    events: step(eventWithoutContent, maskEvent),
    links: step(linkWithoutContent, maskLink),
    correlations: (records) => {
      const kept = drops ? records.filter(isNoBaggage) : records
      const left_out = records.length - kept.length
      return { ...step((record: CorrelationDraft) => record, maskCorrelation)(kept), left_out }
    },
  }
}

function isNoBaggage({ correlation_type }: CorrelationDraft): boolean {
  return correlation_type !== 'w3c_baggage'
}

type Masking<T> = (record: T, masker: Masker) => T

function censored<T extends object>(records: T[], censor: (record: T) => T): Censored<T> {
  const changed = new Set<number>()
  const kept = records.map((record, at) => {
    const now = censor(record)
    if (now !== record) changed.add(at)
    return now
  })
  return { records: kept, changed, left_out: 0 }
}

function traceWithoutContent(trace: TraceDraft): TraceDraft {
  return updated(trace, { input: '', output: '' })
}

function observationWithoutContent(observation: ObservationDraft): ObservationDraft {
  const kept = updated(observation, {
    input: '',
    output: '',
    error_message: '',
    tool_calls: changeAll(observation.tool_calls, () => ({ arguments: '' })),
    tool_results: changeAll(observation.tool_results, () => ({ content: '' })),
    attributes: withoutContent(observation.attributes),
  })
  return kept === observation ? kept : { ...kept, content_state: 'dropped' }
}

function eventWithoutContent(event: EventDraft): EventDraft {
  return updated(event, { body: '', attributes: withoutContent(event.attributes) })
}

function linkWithoutContent(link: LinkDraft): LinkDraft {
  return updated(link, { attributes: withoutContent(link.attributes) })
}

function withoutContent(pairs: TextPairs): TextPairs {
  const kept: Text[] = []
  for (let at = 0; at + 1 < pairs.length; at += 2) {
    const key = pairs[at] ?? ''
    if (!isContentAttribute(stringOf(key))) kept.push(key, pairs[at + 1] ?? '')
  }
  return kept.length === pairs.length ? pairs : kept
}

const traceTexts = [
  'name',
  'task_id',
  'task_name',
  'conversation_external_id',
  'user_id',
  'environment',
  'release',
  'input',
  'output',
] as const

function maskTrace(trace: TraceDraft, masker: Masker): TraceDraft {
  return updated(trace, {
    ...maskTexts(trace, traceTexts, masker),
    metadata: maskPairs(trace.metadata, masker),
  })
}

const observationTexts = [
  'name',
  'error_type',
  'error_message',
  'provider',
  'model_requested',
  'model',
  'endpoint',
  'task_id',
  'task_name',
  'conversation_external_id',
  'user_id',
  'environment',
  'release',
  'service_name',
  'agent_name',
  'finish_reason',
  'input',
  'output',
] as const

function maskObservation(observation: ObservationDraft, masker: Masker): ObservationDraft {
  return updated(observation, {
    ...maskTexts(observation, observationTexts, masker),
    tool_calls: changeAll(observation.tool_calls, (call) =>
      maskTexts(call, ['id', 'name', 'arguments'], masker),
    ),
    tool_results: changeAll(observation.tool_results, (result) =>
      maskTexts(result, ['tool_call_id', 'content'], masker),
    ),
    attributes: maskPairs(observation.attributes, masker),
    metadata: maskPairs(observation.metadata, masker),
  })
}

function maskEvent(event: EventDraft, masker: Masker): EventDraft {
  return updated(event, {
    ...maskTexts(event, ['name', 'body'], masker),
    attributes: maskPairs(event.attributes, masker),
  })
}

function maskLink(link: LinkDraft, masker: Masker): LinkDraft {
  return updated(link, { attributes: maskPairs(link.attributes, masker) })
}

/** Masks a correlation as a key with a value: `keys` of masks match its type. */
function maskCorrelation(correlation: CorrelationDraft, masker: Masker): CorrelationDraft {
  const { correlation_type, correlation_value } = correlation
  const value = masker.replacementOf(correlation_type) ?? maskText(correlation_value, masker)
  return updated(correlation, {
    correlation_value: value,
    metadata: maskPairs(correlation.metadata, masker),
  })
}

function maskTexts<K extends string, T extends { [P in K]: Text }>(
  record: T,
  fields: readonly K[],
  masker: Masker,
): Partial<T> {
  const changes: Partial<T> = {}
  for (const field of fields) {
    const text: T[K] = record[field]
    const masked = maskValue(text, masker)
    if (masked !== text) changes[field] = masked as T[K]
  }
  return changes
}

function maskPairs(pairs: TextPairs, masker: Masker): TextPairs {
  let masked: Text[] | undefined
  for (let at = 0; at + 1 < pairs.length; at += 2) {
    const key = pairs[at] ?? ''
    const value = pairs[at + 1] ?? ''
    const keyText = stringOf(key)
    const keyNow = maskText(keyText, masker)
    const valueNow = masker.replacementOf(keyText) ?? maskValue(value, masker)
    if (keyNow === keyText && valueNow === value) continue
    masked ??= [...pairs]
    masked[at] = keyNow
    masked[at + 1] = valueNow
  }
  return masked ?? pairs
}

/** Masks a text; bytes without masked content are returned unchanged. */
function maskValue(text: Text, masker: Masker): Text {
  const string = stringOf(text)
  const masked = maskText(string, masker)
  return masked === string ? text : masked
}

function stringOf(text: Text): string {
  if (typeof text === 'string') return text
  return Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString('utf8')
}

/** Returns a copy with the changes, or the record itself when they change nothing. */
function updated<T extends object>(record: T, changes: Partial<T>): T {
  for (const field in changes) {
    if (!isSame(changes[field], record[field])) return { ...record, ...changes }
  }
  return record
}

/** Whether two values are equal; empty bytes equal empty text. */
function isSame(left: unknown, right: unknown): boolean {
  return left === right || (left === '' && right instanceof Uint8Array && right.length === 0)
}

function changeAll<T extends object>(records: T[], change: (record: T) => Partial<T>): T[] {
  let changed = false
  const kept = records.map((record) => {
    const now = updated(record, change(record))
    changed ||= now !== record
    return now
  })
  return changed ? kept : records
}
