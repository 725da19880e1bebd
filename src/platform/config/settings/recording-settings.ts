import { integer } from '../setting.ts'
import { gib, kib, mib, seconds } from './units.ts'

/** Handing records from the edge to the queue. */
export const recordingSettings = {
  record_frame_bytes: integer({
    unit: 'bytes',
    default: 128 * kib,
    min: 4 * kib,
    max: 512 * kib,
    reason:
      'Records are framed into messages of this size: a message per call costs five times more.',
  }),
  record_frame_age_ms: integer({
    unit: 'ms',
    default: 20,
    min: 1,
    max: 5 * seconds,
    reason: 'A record waits no longer for others; what a killed proxy can lose.',
  }),
  record_inflight_bytes_max: integer({
    unit: 'bytes',
    default: 64 * mib,
    min: mib,
    max: 4 * gib,
    reason: 'Records in memory while queue and spool are slow; above, they are counted as lost.',
  }),
  spool_bytes_max: integer({
    unit: 'bytes',
    default: gib,
    min: mib,
    max: 1024 * gib,
    reason: 'Disk for records while the queue is out of reach.',
  }),
}
