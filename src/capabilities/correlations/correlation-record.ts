import { z } from 'zod'
import { isoFromNs } from '../../kernel/time.ts'
import type { CorrelationRow } from '../storage/index.ts'
import { recordFields, textOrNull } from '../traces/index.ts'

/** A correlation in every reply. */
export const correlationSchema = z
  .strictObject({
    ...recordFields,
    correlation_type: z.string().describe('What kind of name it is, for instance `order`.'),
    correlation_value: z.string().describe('The name under which others know it.'),
    metadata: z.record(z.string(), z.string()).describe('As it came.'),
  })
  .meta({ id: 'Correlation' })
export type Correlation = z.infer<typeof correlationSchema>

/** A stored correlation as the API shows it. */
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

/** A value is at most so long. */
export const valueCharacters_max = 2048
