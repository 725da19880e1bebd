import { z } from 'zod'
import { anyTraceIdPattern, traceparentPattern } from '../../../../kernel/ids.ts'
import { expected, isStorable, nsFromIso } from '../../../../model/list-query.ts'
import { levelFromSeverity, severityNames } from '../../../../model/severity.ts'

/** Makes a field optional; null is the same as leaving it out. */
export function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish()
}

/** Returns the schema of a text of at most `length_max` characters that both stores can compare. */
export function shortText(length_max = 256) {
  return z
    .string()
    .max(length_max, { error: expected(`at most ${length_max} characters`) })
    .refine(isStorable, { error: expected('text without U+0000') })
}

/** Text of any length. */
export const longText = z.string()

/** A level: the name of a severity in lower or upper case, converted to the stored level. */
export const level = z
  .enum(['', ...severityNames, ...severityNames.map((name) => name.toUpperCase())])
  .transform((name) => levelFromSeverity(name) ?? '')
  .meta({
    id: 'AnyLevel',
    // The enum leaves out upper case, because client generators map both cases to one name.
    enum: ['', ...severityNames],
    description:
      'A severity of OpenTelemetry or a level of Langfuse, also in upper case. Stored as one of ' +
      'four: `trace` as `debug`, `info` as `default`, `warn` as `warning`, `fatal` as `error`.',
  })

/** Any JSON: text is stored unchanged, anything else as JSON text. */
export const content = z.unknown().optional()

/** An instant with up to nine fractional digits, converted to nanoseconds since 1970. */
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

/** A trace id in either spelling, converted to a UUID in lower case. */
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

/**
 * Converts a trace id to a UUID. W3C ids are any 16 bytes, so version and variant are not checked.
 */
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

/** A whole number ≥ 0 that JavaScript represents exactly. */
export const count = z.int().nonnegative()

/** Labels with values; values other than text are stored as JSON text. */
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
const maxLabelCharacters = 256
const forbiddenKeys = new Set(['__proto__', 'constructor', 'prototype'])

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function faultOfLabels(keys: readonly string[]): { path: string[]; detail: string } | undefined {
  if (keys.length > labels_max) return { path: [], detail: `expected at most ${labels_max} keys` }
  for (const key of keys) {
    if (forbiddenKeys.has(key)) return { path: [key], detail: 'is a forbidden key' }
    if (key.length > maxLabelCharacters) {
      const detail = `expected keys of at most ${maxLabelCharacters} characters`
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

/** The context of a caller in the format of W3C Trace Context. */
export const traceparent = z.string().regex(traceparentPattern, {
  error: expected('a traceparent in the format of W3C Trace Context'),
})

/** W3C headers of a record or a batch. */
export const w3cFields = {
  traceparent: optional(traceparent).describe('Stored as a correlation `w3c_traceparent`.'),
  tracestate: optional(shortText(2048)).describe('Stored as a correlation `w3c_tracestate`.'),
  baggage: optional(shortText(8192)).describe(
    'Stored as a correlation `w3c_baggage`: whole members, at most 2,048 characters.',
  ),
}

/** Task, conversation, user, environment and release of a trace or an observation. */
export const ownerFields = {
  task_id: optional(shortText(256)).describe('Id of the task. Default: the trace is the task.'),
  task_name: optional(shortText()),
  conversation_id: optional(shortText()).describe("A UUID, or the client's own text."),
  user_id: optional(shortText()),
  environment: optional(shortText()),
  release: optional(shortText()),
}
