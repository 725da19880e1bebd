import { z } from 'zod'
import { isoFromNs } from '../../kernel/time.ts'
import type { CorrelationDraft, TextPairs } from '../../model/ingest-records.ts'
import { expected } from '../../model/list-query.ts'
import { documentedAs, record } from '../../model/named-schemas.ts'
import { type CorrelationRecord, correlationRecord, namedRecords } from '../records/schema/index.ts'
import type { CorrelationRow } from '../storage/index.ts'
import { recordFields, textOrNull } from '../traces/index.ts'

/** A correlation in replies. */
export const correlationSchema = z
  .strictObject({
    ...recordFields,
    correlation_type: z.string().describe('Type of the external id, for example `order`.'),
    correlation_value: z.string().describe('External id of the trace or observation.'),
    metadata: z.record(z.string(), z.string()).describe('Metadata given by the client.'),
  })
  .meta({ id: 'Correlation' })

type Correlation = z.infer<typeof correlationSchema>

/** Converts a stored correlation to the reply's form. */
export function correlationFrom(row: Omit<CorrelationRow, 'value_digest'>): Correlation {
  return {
    trace_id: row.trace_id,
    observation_id: textOrNull(row.observation_id),
    time: isoFromNs(row.time),
    source: row.source,
    correlation_type: row.correlation_type,
    correlation_value: row.correlation_value,
    metadata: row.metadata,
  }
}

/** Maximum length of a value. */
export const maxValueCharacters = 2048

/** Maximum correlations of one request. */
const correlations_max = 1000

const listSchema = record('IngestCorrelationList', {
  correlations: z
    .array(namedRecords.correlations)
    .min(1, { error: 'expected at least one correlation' })
    .max(correlations_max, { error: `expected at most ${correlations_max} correlations` }),
})

/** The body of POST: a list, or a single correlation, which is read as a list of one. */
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

/** Names an unknown field in the message, since the issue's path does not. */
function messageOf(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'unrecognized_keys') return issue.message
  return expected('no such field')({ input: issue.keys[0] })
}

/** Converts the records of a request to drafts. The default time is that of arrival. */
export function correlationDrafts(
  given: readonly CorrelationRecord[],
  about: { project_id: string; received_at_ms: number },
): CorrelationDraft[] {
  const arrival = BigInt(about.received_at_ms) * 1_000_000n
  return given.map((record) => ({
    project_id: about.project_id,
    trace_id: record.trace_id,
    observation_id: record.observation_id ?? '',
    correlation_type: record.correlation_type,
    correlation_value: record.correlation_value,
    time: record.time ?? arrival,
    source: 'api',
    metadata: Object.entries(toTextMetadata(record)).flat(),
  }))
}

/** Converts a draft to the form in which it will be read. */
export function acceptedFrom(draft: CorrelationDraft): Correlation {
  return correlationFrom({ ...draft, metadata: Object.fromEntries(entriesOf(draft.metadata)) })
}

/** Writes values other than text as JSON text and omits null, like the canonical schema. */
function toTextMetadata({ metadata }: CorrelationRecord): Record<string, string> {
  const given = Object.entries(metadata ?? {}).filter(([, value]) => value !== null)
  return Object.fromEntries(
    given.map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)]),
  )
}

function* entriesOf(pairs: TextPairs): Generator<[string, string]> {
  for (let at = 0; at + 1 < pairs.length; at += 2) yield [String(pairs[at]), String(pairs[at + 1])]
}
