import type { CorrelationDraft, TextPairs } from '../../model/ingest-records.ts'
import type { CorrelationRecord } from '../records/schema/index.ts'
import { type Correlation, correlationFrom } from './correlation-record.ts'

/** The records of a request as they are enqueued; without a time they get that of arrival. */
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
    metadata: Object.entries(metadataOf(record)).flat(),
  }))
}

/** A correlation as it will be read. */
export function takenFrom(draft: CorrelationDraft): Correlation {
  return correlationFrom({ ...draft, metadata: Object.fromEntries(entriesOf(draft.metadata)) })
}

/** What is no text is stored as JSON text; what is null is left out, as in the canonical schema. */
function metadataOf({ metadata }: CorrelationRecord): Record<string, string> {
  const given = Object.entries(metadata ?? {}).filter(([, value]) => value !== null)
  return Object.fromEntries(
    given.map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)]),
  )
}

function* entriesOf(pairs: TextPairs): Generator<[string, string]> {
  for (let at = 0; at + 1 < pairs.length; at += 2) yield [String(pairs[at]), String(pairs[at + 1])]
}
