import { z } from 'zod'
import { traceIdFrom } from '../../kernel/ids.ts'
import { expected, isStorable, nsFromIso } from '../../model/list-query.ts'

/** The types of parameters. */
export const parameterTypes = [
  'text',
  'texts',
  'uuid',
  'integer',
  'number',
  'boolean',
  'time',
] as const

type ParameterType = (typeof parameterTypes)[number]

/** A parameter of a saved query. It is either required or has a default. */
export type Parameter = { name: string; type: ParameterType; required: boolean; default?: unknown }

type Reader = {
  accepts: (value: unknown) => boolean
  expected: string
  /** A sample value, to check templates with. */
  sample: unknown
}

const texts_max = 1_000

/** The readers of parameter values, by type. */
export const parameterReaders: Readonly<Record<ParameterType, Reader>> = {
  text: { accepts: isText, expected: 'text without U+0000', sample: 'x' },
  texts: {
    accepts: (value) =>
      Array.isArray(value) && value.length > 0 && value.length <= texts_max && value.every(isText),
    expected: `a list of 1 to ${texts_max} texts`,
    sample: ['x'],
  },
  uuid: {
    accepts: (value) => typeof value === 'string' && traceIdFrom(value) !== undefined,
    expected: 'a UUID or 32 hex digits',
    sample: '0198c0de-0000-7000-8000-000000000000',
  },
  integer: { accepts: Number.isSafeInteger, expected: 'a whole number', sample: 1 },
  number: { accepts: (value) => typeof value === 'number', expected: 'a number', sample: 1 },
  boolean: {
    accepts: (value) => typeof value === 'boolean',
    expected: 'true or false',
    sample: true,
  },
  time: {
    accepts: (value) => typeof value === 'string' && nsFromIso(value) !== undefined,
    expected: 'an ISO 8601 instant',
    sample: '2026-01-01T00:00:00Z',
  },
}

const text_characters_max = 2_048

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.length <= text_characters_max && isStorable(value)
}

/** The schema of one parameter. */
export const parameterSchema = z
  .strictObject({
    name: z
      .string()
      .regex(/^[a-z][a-z0-9_]{0,63}$/, { error: expected('a name like model or min_cost') }),
    type: z
      .enum(parameterTypes, { error: expected(`one of ${parameterTypes.join(', ')}`) })
      .meta({ id: 'QueryParameterType' }),
    required: z.boolean().default(false).describe('Whether each run must give a value.'),
    default: z.unknown().optional().describe('Value for runs that give none.'),
  })
  .meta({ id: 'QueryParameterRequest' })
  .transform((given, context): Parameter => {
    const { name, type, required } = given
    const isGiven = given.default !== undefined
    if (required === isGiven) {
      const message = required
        ? 'expected no default for a required parameter'
        : 'expected a default, or required: true'
      context.addIssue({ code: 'custom', path: ['default'], message })
    } else if (isGiven && !parameterReaders[type].accepts(given.default)) {
      const message = expected(parameterReaders[type].expected)({ input: given.default })
      context.addIssue({ code: 'custom', path: ['default'], message })
    }
    return { name, type, required, ...(isGiven && { default: given.default }) }
  })
