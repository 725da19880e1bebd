import { hours, integer, mib, minutes, seconds, secret, text, url } from '../setting.ts'

/** Settings of ingest, detection and incidents in the worker. */
export const workerSettings = {
  ingest_batch_bytes_max: integer({
    unit: 'bytes',
    default: 16 * mib,
    min: mib,
    max: 256 * mib,
    reason: 'Maximum size of a batch. In memory a batch takes a few times this size.',
  }),
  ingest_batch_wait_ms: integer({
    unit: 'ms',
    default: 250,
    min: 0,
    max: 10 * seconds,
    reason:
      'Time that a batch waits for more messages; under load up to twice as long. Larger inserts are cheaper, but data becomes visible later.',
  }),
  ingest_ack_wait_ms: integer({
    unit: 'ms',
    default: minutes,
    min: seconds,
    max: hours,
    reason: 'Time after which the batch of a killed worker is redelivered.',
  }),
  detection_busy_percent: integer({
    unit: 'percent',
    default: 25,
    min: 1,
    max: 100,
    reason: 'Maximum share of a worker’s time for detection. The rest is for storing data.',
  }),
}

/** Settings of requests to receivers of notifications. */
export const notificationSettings = {
  outbound_allowed: text({
    unit: 'CIDRs',
    reason:
      'Private networks that notifications, models of verification and providers of `providers_file` may reach, separated by commas: `10.0.0.0/8`, or with a port other than 80 and 443 `10.0.0.0/8:9093`. Public addresses are allowed, all others refused. Set the same value for API, worker and proxy.',
  }),
}

/** Settings of jobs, and of the retention of runs and the ledger. */
export const jobSettings = {
  job_poll_ms: integer({
    unit: 'ms',
    default: 2 * seconds,
    min: 50,
    max: minutes,
    reason: 'Interval at which an idle worker polls for jobs, with one statement.',
  }),
  job_lease_ms: integer({
    unit: 'ms',
    default: 30 * seconds,
    min: seconds,
    max: hours,
    reason:
      'Lease of a job: another worker takes over a job whose worker has not renewed it for this time.',
  }),
  job_runs_days: integer({
    unit: 'days',
    default: 90,
    min: 1,
    max: 3_650,
    reason: 'How long runs are kept. Runs of archives, restores and erasures are kept for ever.',
  }),
  ledger_days: integer({
    unit: 'days',
    default: 400,
    min: 8,
    max: 36_500,
    reason:
      'How long the completeness ledger is kept. It contains counts only, no content, and is deleted by whole months.',
  }),
}

/** Settings of the daily retention, which the API shows. */
export const retentionSettings = {
  retention_hour: integer({
    unit: 'hour of the day, UTC',
    default: 3,
    min: 0,
    max: 23,
    reason: 'Hour at which the daily retention runs start. Choose an hour with low load.',
  }),
}

/** Where the worker publishes checkpoints of the audit trail, and where the API reads them. */
export const checkpointSettings = {
  audit_checkpoint_sinks: text({
    unit: 'URLs',
    reason:
      'Where signed checkpoints of audit chains are published, separated by commas: file:///folder, s3://bucket/prefix (with the settings of blobs), https://receiver, or stdout. The API reads folders and buckets back when it checks a chain. Without one, the audit trail is append-only, but not tamper-evident.',
  }),
}

/** Settings of the audit trail. */
export const auditSettings = {
  audit_checkpoint_poll_ms: integer({
    unit: 'ms',
    default: 10 * seconds,
    min: 100,
    max: hours,
    reason:
      'Time between two looks for audit chains that are due for a checkpoint, and for checkpoints that a sink has not accepted yet.',
  }),
  audit_days: integer({
    unit: 'days',
    default: 0,
    min: 0,
    max: 36_500,
    reason:
      'Days for which audit records are kept. 0: for ever. Records that a stream has not sent yet are kept longer.',
  }),
  audit_stream_webhook_url: url(['https', 'http'], {
    unit: 'URL',
    reason:
      'Receiver to which audit records are streamed as signed webhooks. Requires `audit_stream_webhook_secret`. Private networks need `outbound_allowed`.',
  }),
  audit_stream_webhook_secret: secret({
    reason: 'Signs the webhooks: `whsec_` and 24 to 64 bytes as base64.',
  }),
  audit_stream_webhook_headers: secret({
    reason:
      'Further headers of the webhooks, separated by commas: `Authorization=Splunk%20…`. Values are URL-encoded.',
  }),
  audit_stream_otlp_url: url(['https', 'http'], {
    unit: 'URL',
    reason:
      'Endpoint to which audit records are streamed as OTLP logs over HTTP in protobuf, with its path: `https://collector.example.com:4318/v1/logs`. Private networks need `outbound_allowed`.',
  }),
  audit_stream_otlp_headers: secret({
    reason:
      'Headers of the OTLP requests, as in `OTEL_EXPORTER_OTLP_HEADERS`: `api-key=…,tenant=…`. Values are URL-encoded.',
  }),
}

/** Settings of workers that certify releases. */
export const certificationSettings = {
  certification_key: secret({
    reason:
      'Ed25519 private key in PEM (PKCS #8) that signs the statements of release certifications. When unset, a key is generated once and kept in PostgreSQL, encrypted with `LOOPTRACE_SECRET_KEY`. After a change, earlier public keys stay in `/.well-known/looptrace-certification-keys.json`.',
  }),
  certification_tasks_max: integer({
    unit: 'tasks',
    default: 50_000,
    min: 100,
    max: 200_000,
    reason:
      'Maximum tasks, and maximum eval cases, that a certification reads of a release, and of its baseline. With more it is inconclusive.',
  }),
}
