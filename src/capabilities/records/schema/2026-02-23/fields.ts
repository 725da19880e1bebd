import { z } from 'zod'
import { anyTraceIdPattern, traceparentPattern } from '../../../../kernel/ids.ts'
import { expected, isStorable, nsFromIso } from '../../../../model/list-query.ts'
import { levelFromSeverity, severityNames } from '../../../../model/severity.ts'

/** A field that may be left out; null says the same. */
export function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish()
}

/** Text of at most `length_max` characters that both stores can hold and compare. */
export function shortText(length_max = 256) {
  return z
    .string()
    .max(length_max, { error: expected(`at most ${length_max} characters`) })
    .refine(isStorable, { error: expected('text without U+0000') })
}

/** Text of any length. */
export const longText = z.string()

/** How grave something is: a severity's name in lower or upper case, read as the stored level. */
export const level = z
  .enum(['', ...severityNames, ...severityNames.map((name) => name.toUpperCase())])
  .transform((name) => levelFromSeverity(name) ?? '')
  .meta({
    id: 'AnyLevel',
    // Upper case has no member of its own: generators of clients make one name of both.
    enum: ['', ...severityNames],
    description:
      'A severity of OpenTelemetry or a level of Langfuse, also in upper case. Stored as one of ' +
      'four: `trace` as `debug`, `info` as `default`, `warn` as `warning`, `fatal` as `error`.',
  })

/** Any JSON: text stays the text it is, anything else is stored as JSON text. */
export const content = z.unknown().optional()

/** An instant with up to nine digits of seconds, read as nanoseconds since 1970. */
export const instant = z
  .string()
  .transform((text, context): bigint => {
    const ns = text.length <= 40 ? nsFromIso(text) : undefined
    if (ns !== undefined) return ns
    context.addIssue({ code: 'custom', message: expected(instantWanted)({ input: text }) })
    return z.NEVER
  })
  .meta({ type: 'string', format: 'date-time' })

const instantWanted = 'an ISO 8601 instant from 1970 to 2261 with Z or an offset'

/** A trace id in either spelling, read as a UUID in lower case. */
export const traceId = z
  .string()
  .transform((text, context): string => {
    const uuid = uuidOf(text)
    if (uuid !== undefined) return uuid
    context.addIssue({ code: 'custom', message: expected(traceIdWanted)({ input: text }) })
    return z.NEVER
  })
  .meta({ type: 'string', pattern: anyTraceIdPattern })

const traceIdWanted = 'a UUID or 32 hex digits, not all zero'
const dashed = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const plain = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/
const nilUuid = '00000000-0000-0000-0000-000000000000'

/** W3C ids are any 16 bytes, so the version and variant that a UUID has are not asked for. */
function uuidOf(text: string): string | undefined {
  if (text.length !== 36 && text.length !== 32) return undefined
  const lower = text.toLowerCase()
  if (text.length === 36) return dashed.test(lower) && lower !== nilUuid ? lower : undefined
  if (!plain.test(lower)) return undefined
  const uuid = lower.replace(plain, '$1-$2-$3-$4-$5')
  return uuid === nilUuid ? undefined : uuid
}

/** An observation's id: a span id, or a client's own of at most 64 characters. */
export const observationId = shortText(64).min(1)

/** A whole number from 0 that JavaScript holds exactly. */
export const count = z.int().nonnegative()

/** Labels and their values; what is no text is stored as JSON text. */
export const labels = z
  .unknown()
  .transform((value, context): Readonly<Record<string, unknown>> => {
    if (!isRecord(value)) {
      context.addIssue({ code: 'custom', message: expected('an object')({ input: value }) })
      return z.NEVER
    }
    const fault = faultOfLabels(Object.keys(value))
    if (fault === undefined) return value
    context.addIssue({ code: 'custom', path: fault.path, message: fault.detail })
    return z.NEVER
  })
  .meta({ type: 'object', additionalProperties: true, maxProperties: 1000 })

const labels_max = 1000
const labelCharacters_max = 256
const forbiddenKeys = new Set(['__proto__', 'constructor', 'prototype'])

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function faultOfLabels(keys: readonly string[]): { path: string[]; detail: string } | undefined {
  if (keys.length > labels_max) return { path: [], detail: `expected at most ${labels_max} keys` }
  for (const key of keys) {
    if (forbiddenKeys.has(key)) return { path: [key], detail: 'is a key that is not taken' }
    if (key.length > labelCharacters_max) {
      const detail = `expected keys of at most ${labelCharacters_max} characters`
      return { path: [key.slice(0, 80)], detail }
    }
  }
  return undefined
}

/** US dollars: decimal text with at most 9 digits after the point, or a number. */
export const dollars = z.union([
  z
    .string()
    .regex(/^\d{1,9}(\.\d{1,9})?$/, { error: expected('decimal US dollars, like "0.0125"') }),
  z.number().nonnegative().lt(1e9),
])

/** The context of a caller, as W3C Trace Context has it. */
export const traceparent = z.string().regex(traceparentPattern, {
  error: expected('a traceparent as W3C Trace Context has it'),
})

/** How a record or a batch says where in W3C's world it belongs. */
export const w3cFields = {
  traceparent: optional(traceparent).describe('Kept as a correlation `w3c_traceparent`.'),
  tracestate: optional(shortText(2048)).describe('Kept as a correlation `w3c_tracestate`.'),
  baggage: optional(shortText(8192)).describe(
    'Kept as a correlation `w3c_baggage`, of which at most 2,048 characters are whole members.',
  ),
}

/** To whom and what a trace or an observation belongs. */
export const ownerFields = {
  task_id: optional(shortText(256)).describe('Left out, the trace stands for the task.'),
  task_name: optional(shortText()),
  conversation_id: optional(shortText()).describe("A UUID, or the client's own text."),
  user_id: optional(shortText()),
  environment: optional(shortText()),
  release: optional(shortText()),
}
