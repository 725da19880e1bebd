import { integer } from '../setting.ts'
import { gib, kib, mib } from './units.ts'

/** Canonical batches, POST /api/v2/observability/ingest. */
export const ingestSettings = {
  ingest_body_bytes_max: integer({
    unit: 'bytes',
    default: 16 * mib,
    min: kib,
    max: gib,
    reason: 'A batch; it is parsed in one go, and a larger one would hold up other requests.',
  }),
  ingest_inflight_records_max: integer({
    unit: 'records',
    default: 200_000,
    min: 1,
    max: 10_000_000,
    reason: 'Records of batches being taken at one time; above, 503: they are all in memory.',
  }),
  ingest_take_over_ms: integer({
    unit: 'ms',
    default: 30_000,
    min: 100,
    max: 600_000,
    reason:
      'A batch whose process was killed while it took it: a repeat with the same key gets 503 until this time has passed, and is then taken.',
  }),
}
