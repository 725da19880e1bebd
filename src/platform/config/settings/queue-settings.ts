import { integer, text } from '../setting.ts'
import { gib, hours, kib, mib, seconds } from './units.ts'

/** NATS JetStream, or SQLite where no server is named. */
export const queueSettings = {
  nats_url: text({
    unit: 'URL',
    reason:
      'One or more NATS servers, separated by commas. Role `all` keeps its queue in SQLite when unset.',
  }),
  nats_credentials_file: text({ unit: 'path', reason: 'Credentials file of the NATS account.' }),
  nats_replicas: integer({
    unit: 'replicas',
    default: 1,
    min: 1,
    max: 5,
    reason: 'Copies of each message; 3 where NATS is a cluster.',
  }),
  queue_bytes_max: integer({
    unit: 'bytes',
    default: 8 * gib,
    min: 16 * mib,
    max: 4096 * gib,
    reason: 'What may wait for a store that is down; above, the edge spools.',
  }),
  queue_message_bytes_max: integer({
    unit: 'bytes',
    default: 16 * mib,
    min: 64 * kib,
    max: 64 * mib,
    reason: 'Largest message; NATS’ own max_payload (1 MiB unless raised) bounds it further.',
  }),
  queue_dedupe_ms: integer({
    unit: 'ms',
    default: 2 * hours,
    min: seconds,
    max: 7 * 24 * hours,
    reason: 'The same message id published again within this time is stored once.',
  }),
}
