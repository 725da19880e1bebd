import { flag, integer, secret, text, url } from '../setting.ts'
import { mib, minutes, seconds } from './units.ts'

/** Where archives are kept. */
export const blobsSettings = {
  blobs_url: url(['file', 's3'], {
    unit: 'URL',
    reason:
      'Where archives are kept: `file:///folder` or `s3://bucket/prefix`; the same for `api` and `worker`. Unset, nothing is archived; role `all` then keeps them in `blobs` of its data directory.',
  }),
  archive_settle_ms: integer({
    unit: 'ms',
    default: 30 * seconds,
    min: 0,
    max: 10 * minutes,
    reason:
      'An archive run takes what was stored before it began, and first waits so long for inserts that were under way: no shorter than one may take.',
  }),
  blobs_s3_endpoint: url(['http', 'https'], {
    unit: 'URL',
    reason: "A store that speaks S3 and is not Amazon's.",
  }),
  blobs_s3_region: text({
    unit: 'name',
    reason: 'Region of the bucket; what the SDK finds in its environment when unset.',
  }),
  blobs_s3_access_key_id: text({
    unit: 'name',
    reason:
      'Account of the bucket; unset, the SDK finds one (the role of the pod, files, environment).',
  }),
  blobs_s3_secret_access_key: secret({ reason: 'Its secret.' }),
  blobs_s3_path_style: flag({
    unit: 'flag',
    default: false,
    reason: 'Whether the bucket stands in the path, not in the host name: most own stores want it.',
  }),
  blobs_s3_part_bytes: integer({
    unit: 'bytes',
    default: 8 * mib,
    min: 5 * mib,
    max: 1024 * mib,
    reason: 'Larger blobs go in parts of this size, one of which is in memory.',
  }),
  blobs_s3_attempts_max: integer({
    unit: 'tries',
    default: 4,
    min: 1,
    max: 20,
    reason: 'Tries of one request, with back-off between them.',
  }),
  blobs_s3_connect_timeout_ms: integer({
    unit: 'ms',
    default: 5 * seconds,
    min: 100,
    max: minutes,
    reason: 'How long a connection may take.',
  }),
  blobs_s3_request_timeout_ms: integer({
    unit: 'ms',
    default: 30 * seconds,
    min: 100,
    max: 10 * minutes,
    reason: 'How long a connection may stay silent.',
  }),
  blobs_s3_connections_max: integer({
    unit: 'connections',
    default: 8,
    min: 1,
    max: 200,
    reason: 'Connections of one process.',
  }),
}
