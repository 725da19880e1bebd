import { z } from 'zod'
import { expected } from '../../model/list-query.ts'
import { documentedAs, record } from '../../model/named-schemas.ts'
import { type CorrelationRecord, correlationRecord, namedRecords } from '../records/schema/index.ts'

/** Correlations of one request, at most. */
const correlations_max = 1000

const listSchema = record('IngestCorrelationList', {
  correlations: z
    .array(namedRecords.correlations)
    .min(1, { error: 'expected at least one correlation' })
    .max(correlations_max, { error: `expected at most ${correlations_max} correlations` }),
})

/** Either a list, or a single correlation as the body itself; read as a list. */
export const correlationsBody = documentedAs(
  z.unknown().transform((body, context): CorrelationRecord[] => {
    const schema = isList(body) ? listSchema : correlationRecord
    const result = schema.safeParse(body)
    if (result.success)
      return 'correlations' in result.data ? result.data.correlations : [result.data]
    for (const issue of result.error.issues) {
      context.addIssue({ code: 'custom', path: issue.path, message: messageOf(issue) })
    }
    return z.NEVER
  }),
  z.union([listSchema, namedRecords.correlations]).meta({ id: 'AddCorrelationsRequest' }),
)

function isList(body: unknown): boolean {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return true
  return 'correlations' in body || !('correlation_type' in body)
}

/** A field that is not known is named by its issue and not by the path. */
function messageOf(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'unrecognized_keys') return issue.message
  return expected('no such field')({ input: issue.keys[0] })
}
