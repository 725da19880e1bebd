import { isStorableInstant } from '../../../../kernel/time.ts'
import type { OtlpAttributes, OtlpLogRecord, OtlpResource, OtlpValue } from '../contract.ts'
import { stringOf } from '../mapping/value-text.ts'

/** A log record with readers of its attributes. */
export type LogReading = {
  record: OtlpLogRecord
  /** Nanoseconds since 1970; 0 when the record has no usable time. */
  time: bigint
  session: string
  /** The prompt of the session that the record belongs to; empty when it names none. */
  prompt: string
  /** Returns the first of these attributes that has a text; '' without one. */
  text(...keys: string[]): string
  /** Returns the value of the first of these attributes that the record has. */
  value(...keys: string[]): OtlpValue | undefined
  /** Returns the first of these attributes that is a whole number; undefined without one. */
  count(...keys: string[]): number | undefined
}

const sessionKeys = [
  'session.id',
  'gen_ai.conversation.id',
  'conversation.id',
  'langfuse.session.id',
]
/** Claude Code, Gemini CLI, and names of a turn. */
const promptKeys = ['prompt.id', 'prompt_id', 'turn.id', 'turn_id']

/** Reads a log record. Gemini CLI names its session in the resource. */
export function readLog(record: OtlpLogRecord, resource: OtlpResource): LogReading {
  const value = (...keys: string[]) => firstOf(record.attributes, keys)
  const text = (...keys: string[]) => stringOf(value(...keys))
  return {
    record,
    time: timeOf(record, text('event.timestamp')),
    session: sessionIn(record.attributes, resource),
    prompt: text(...promptKeys),
    text,
    value,
    count: (...keys) => countIn(text(...keys)),
  }
}

/** Returns the session that an item names, or else its resource; '' without one. */
export function sessionIn(attributes: OtlpAttributes, resource: OtlpResource): string {
  const own = stringOf(firstOf(attributes, sessionKeys))
  return own || stringOf(firstOf(resource.attributes, sessionKeys))
}

function firstOf(
  { keys, values }: OtlpAttributes,
  names: readonly string[],
): OtlpValue | undefined {
  for (const name of names) {
    const value = values[keys.indexOf(name)]
    if (value !== undefined && value !== null && value !== '') return value
  }
  return undefined
}

function timeOf({ time, observed_time }: OtlpLogRecord, timestamp: string): bigint {
  const said_ms = Date.parse(timestamp)
  const said = Number.isNaN(said_ms) ? 0n : BigInt(said_ms) * 1_000_000n
  return [time, observed_time, said].find(isStorableInstant) ?? 0n
}

/** Counts may be texts, because some exporters write every attribute as text. */
function countIn(text: string): number | undefined {
  const number = /^\d{1,15}(?:\.\d*)?$/.test(text) ? Math.floor(Number(text)) : undefined
  return Number.isSafeInteger(number) ? number : undefined
}
