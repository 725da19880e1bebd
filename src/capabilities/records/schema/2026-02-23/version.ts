import { correlationRecord } from './correlation-record.ts'
import { eventRecord } from './event-record.ts'
import { linkRecord } from './link-record.ts'
import { observationRecord } from './observation-record.ts'
import { traceRecord } from './trace-record.ts'

/** The first canonical schema. */
export const version20260223 = {
  version: '2026-02-23',
  status: 'active',
  released_at: '2026-02-23T00:00:00.000Z',
  compatibility_notes: 'Initial canonical observability schema contract v2.',
  records: {
    traces: traceRecord,
    observations: observationRecord,
    events: eventRecord,
    links: linkRecord,
    correlations: correlationRecord,
  },
} as const
