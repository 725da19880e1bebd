import { z } from 'zod'
import { expected } from '../../../model/list-query.ts'
import { type CorrelationRecord, correlationRecord } from '../schema/index.ts'

/** Correlations of one request, at most. */
const correlations_max = 1000

const listSchema = z.strictObject({
  correlations: z
    .array(correlationRecord)
    .min(1, { error: 'expected at least one correlation' })
    .max(correlations_max, { error: `expected at most ${correlations_max} correlations` }),
})

/** Either a list, or a single correlation as the body itself; read as a list. */
export const correlationsBody = z
  .unknown()
  .transform((body, context): CorrelationRecord[] => {
    const schema = isList(body) ? listSchema : correlationRecord
    const result = schema.safeParse(body)
    if (result.success)
      return 'correlations' in result.data ? result.data.correlations : [result.data]
    for (const issue of result.error.issues) {
      context.addIssue({ code: 'custom', path: issue.path, message: messageOf(issue) })
    }
    return z.NEVER
  })
  .meta({ oneOf: [jsonSchemaOf(listSchema), jsonSchemaOf(correlationRecord)] })

function isList(body: unknown): boolean {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return true
  return 'correlations' in body || !('correlation_type' in body)
}

/** A field that is not known is named by its issue and not by the path. */
function messageOf(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'unrecognized_keys') return issue.message
  return expected('no such field')({ input: issue.keys[0] })
}

function jsonSchemaOf(schema: z.ZodType) {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
  })
  return rest
}
