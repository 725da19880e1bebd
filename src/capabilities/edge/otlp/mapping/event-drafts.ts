import { createHash } from 'node:crypto'
import { isStorableInstant } from '../../../../kernel/time.ts'
import type { EventDraft, LinkDraft, Text } from '../../../../model/ingest-records.ts'
import type { Observation } from '../../../../model/observation.ts'
import { levelFromSeverity, levelFromSeverityNumber } from '../../../../model/severity.ts'
import type { OtlpAttributes, OtlpEvent, OtlpLogRecord, OtlpSpan } from '../contract.ts'
import type { MapperTools } from './read-span.ts'
import { addAttribute, drop, type RowAttributes, reportLosses } from './row-attributes.ts'
import { columnText, cutText, name_chars_max, plainOf, textOf } from './value-text.ts'

type Place = { project_id: string; start_time: bigint }

/** Maps the events of a span. */
export function spanEvents(
  tools: MapperTools,
  { project_id, start_time }: Place,
  span: OtlpSpan,
): EventDraft[] {
  return span.events.map((event, at): EventDraft => {
    const isGenAi = tools.isGenAiEvent(event.name)
    const content_keys = isGenAi ? contentKeys : noKeys
    const { pairs, content } = eventAttributes(tools, event, content_keys)
    noteSentTime(pairs, event.time)
    return {
      project_id,
      trace_id: span.trace_id,
      observation_id: span.span_id,
      event_id: `${at}`,
      time: isStorableInstant(event.time) ? event.time : start_time,
      name: columnText(event.name, name_chars_max),
      level: event.name === 'exception' ? 'error' : '',
      source: 'otlp',
      body: bodyOf(tools, content, undefined),
      attributes: pairs,
    }
  })
}

type LogContext = {
  project_id: string
  received_at: bigint
  name: string
  /** Keys with content, in addition to those of spans; by default those of GenAI events. */
  content_keys?: ReadonlySet<string>
}

/** Maps a log record to an event, with the same id when it is sent again. */
export function logEvent(
  tools: MapperTools,
  context: LogContext,
  record: OtlpLogRecord,
): EventDraft {
  const { content_keys = contentKeys } = context
  const { pairs, content } = eventAttributes(tools, record, content_keys)
  noteSentTime(pairs, record.time)
  const body = bodyOf(tools, content, record.body)
  const times = [record.time, record.observed_time]
  return {
    project_id: context.project_id,
    trace_id: record.trace_id,
    observation_id: record.span_id,
    event_id: hashOf([`${record.time}`, context.name, body, ...pairs]),
    time: times.find(isStorableInstant) ?? context.received_at,
    name: columnText(context.name, name_chars_max),
    level: levelOf(record),
    source: 'otlp',
    body,
    attributes: pairs,
  }
}

export function spanLinks(
  tools: MapperTools,
  { project_id, start_time }: Place,
  span: OtlpSpan,
): LinkDraft[] {
  return span.links.map((link, at): LinkDraft => {
    const row = emptyRow()
    addAll(tools, row, link.attributes)
    if (link.trace_state !== '') row.attributes.push('otel.trace_state', link.trace_state)
    reportDropped(tools, row, link.dropped_attributes_count)
    return {
      project_id,
      trace_id: span.trace_id,
      observation_id: span.span_id,
      link_id: `${at}`,
      time: start_time,
      linked_trace_id: link.trace_id,
      linked_observation_id: link.span_id,
      source: 'otlp',
      attributes: row.attributes,
    }
  })
}

function emptyRow(): RowAttributes {
  return { attributes: [], metadata: [], cut: 0, dropped: 0, dropped_names: '' }
}

function addAll({ plans, compiled }: MapperTools, row: RowAttributes, given: OtlpAttributes) {
  for (const [at, key] of given.keys.entries()) {
    if (plans(key).refused !== '') drop(row, key)
    else addAttribute(row, key, given.values[at] ?? null, compiled.contract.limits)
  }
}

function reportDropped({ compiled }: MapperTools, row: RowAttributes, count: number) {
  const { limits } = compiled.contract
  if (count > 0) addAttribute(row, 'otel.dropped_attributes_count', count, limits)
  reportLosses(row)
}

/** Keeps the sent time as an attribute when it cannot be stored. */
function noteSentTime(pairs: Text[], time: bigint): void {
  if (time !== 0n && !isStorableInstant(time)) pairs.push('mapping.time', `${time}`)
}

const noKeys: ReadonlySet<string> = new Set()

/** Keys of GenAI events with content, in addition to those of spans. */
const contentKeys: ReadonlySet<string> = new Set([
  'content',
  'message',
  'tool_calls',
  'gen_ai.event.content',
  'gen_ai.output.messages',
  'gen_ai.input.messages',
])

/** Separates the attributes of an event from its content. */
function eventAttributes(
  tools: MapperTools,
  event: Pick<OtlpEvent, 'attributes' | 'dropped_attributes_count'>,
  content_keys: ReadonlySet<string>,
): { pairs: Text[]; content: OtlpAttributes } {
  const { keys, values } = event.attributes
  const content: OtlpAttributes = { keys: [], values: [] }
  const rest: OtlpAttributes = { keys: [], values: [] }
  for (const [at, key] of keys.entries()) {
    const to = content_keys.has(key) || tools.plans(key).is_content ? content : rest
    to.keys.push(key)
    to.values.push(values[at] ?? null)
  }
  const row = emptyRow()
  addAll(tools, row, rest)
  reportDropped(tools, row, event.dropped_attributes_count)
  return { pairs: row.attributes, content }
}

/** Returns the body of an event: its own, or a single content attribute, or all content as JSON. */
function bodyOf(
  { options }: MapperTools,
  content: OtlpAttributes,
  body: OtlpLogRecord['body'] | undefined,
): Text {
  return cutText(wholeBody(content, body ?? null), options.content_bytes_max)
}

function wholeBody(content: OtlpAttributes, body: OtlpLogRecord['body']): Text {
  if (content.keys.length === 0) return textOf(body)
  const isAlone = content.keys.length === 1 && body === null
  if (isAlone) return textOf(content.values[0])
  const map = plainOf({ map: content }) as Record<string, unknown>
  return JSON.stringify(body === null ? map : { ...map, body: plainOf(body) })
}

function hashOf(parts: readonly Text[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(`${part.length}:`).update(part)
  return hash.digest('hex').slice(0, 32)
}

/** Returns the level by severity number, else by its text, such as `WARN` or `INFO2`. */
function levelOf({ severity_number, severity_text }: OtlpLogRecord): Observation['level'] {
  if (severity_number !== 0) return levelFromSeverityNumber(severity_number)
  return levelFromSeverity(severity_text.replace(/[2-4]$/, '')) ?? ''
}
