import { gib, hours, integer, mib, minutes, seconds, secret, text, url } from '../setting.ts'

/** The worker's consumers. */
export const workerSettings = {
  ingest_batch_messages_max: integer({
    unit: 'messages',
    default: 512,
    min: 1,
    max: 10_000,
    reason: 'Messages taken at once.',
  }),
  ingest_batch_bytes_max: integer({
    unit: 'bytes',
    default: 16 * mib,
    min: mib,
    max: 256 * mib,
    reason: 'Raw bytes of one batch; what it takes in memory is a few times this.',
  }),
  ingest_batch_wait_ms: integer({
    unit: 'ms',
    default: 250,
    min: 0,
    max: 10 * seconds,
    reason: 'How long a batch waits for more: few large inserts are cheap, but users wait too.',
  }),
  ingest_ack_wait_ms: integer({
    unit: 'ms',
    default: minutes,
    min: seconds,
    max: hours,
    reason: 'A batch that a killed worker held comes again after this time.',
  }),
  ingest_attempts_max: integer({
    unit: 'deliveries',
    default: 10_000,
    min: 1,
    max: 1_000_000,
    reason:
      'Deliveries before a message goes to the dead letters. High, because an outage of a store also costs deliveries; what can not be decoded is set apart at once.',
  }),
  ingest_suspect_attempts: integer({
    unit: 'tries',
    default: 5,
    min: 1,
    max: 1_000,
    reason:
      'Failed tries before a message that can not be stored goes to the dead letters; an outage of a store is no try.',
  }),
  ingest_batches_max: integer({
    unit: 'batches',
    default: 2,
    min: 1,
    max: 8,
    reason: 'Batches under way at once: while one is stored, another is read. Each takes memory.',
  }),
  ingest_insert_rows_max: integer({
    unit: 'rows',
    default: 10_000,
    min: 1,
    max: 1_000_000,
    reason: 'Rows of one insert, about; above 10,000 inserts stop getting cheaper.',
  }),
  detection_busy_percent: integer({
    unit: 'percent',
    default: 25,
    min: 1,
    max: 100,
    reason: 'Of a worker’s time that looking at tasks takes at most; storing has the rest.',
  }),
  detection_cache_bytes_max: integer({
    unit: 'bytes',
    default: 48 * mib,
    min: mib,
    max: 4 * gib,
    reason:
      'Memory for histories of tasks that go on: what is not kept is read again with the next call.',
  }),
}

/** Jobs of the worker, and what of our own books is deleted. */
export const jobSettings = {
  jobs_max: integer({
    unit: 'jobs',
    default: 2,
    min: 1,
    max: 64,
    reason: 'Jobs (retention, archive, restore, …) that one worker does at a time.',
  }),
  job_poll_ms: integer({
    unit: 'ms',
    default: 2 * seconds,
    min: 50,
    max: minutes,
    reason: 'How often a worker with nothing to do looks for a job; one statement each.',
  }),
  job_lease_ms: integer({
    unit: 'ms',
    default: 30 * seconds,
    min: seconds,
    max: hours,
    reason: 'A job whose worker is not heard of for so long is taken over by another one.',
  }),
  job_attempts_max: integer({
    unit: 'attempts',
    default: 5,
    min: 1,
    max: 100,
    reason: 'Attempts before a job is failed; an outage of a store is no attempt, for a day.',
  }),
  job_runs_days: integer({
    unit: 'days',
    default: 90,
    min: 1,
    max: 3_650,
    reason: 'How long records of runs are kept. Those of archives, restores and erasures stay.',
  }),
  retention_hour: integer({
    unit: 'hour of the day, UTC',
    default: 3,
    min: 0,
    max: 23,
    reason: 'From then on the daily runs of retention begin: choose an hour with little load.',
  }),
  ledger_days: integer({
    unit: 'days',
    default: 400,
    min: 8,
    max: 36_500,
    reason:
      'How long the ledger of what came in is kept; it goes by whole months. It has counts only, no content.',
  }),
}

/** The model that may be asked about lost context. */
export const judgeSettings = {
  judge_url: url(['https', 'http'], {
    unit: 'URL',
    reason:
      'Base of an OpenAI-compatible endpoint that is sent what users asked for and what the agent answered, to judge it; nothing is sent when unset. The same in API and worker.',
  }),
  judge_model: text({ unit: 'model', reason: 'Who judges; must be set where the URL is.' }),
  judge_api_key: secret({ reason: 'Bearer token for the endpoint; none is sent when unset.' }),
  judge_allowed_hosts: text({
    unit: 'hosts',
    reason:
      'Separated by commas: hosts of the judge that may have a private address. Others must be public.',
  }),
  judge_timeout_ms: integer({
    unit: 'ms',
    default: 20 * seconds,
    min: 100,
    max: minutes,
    reason:
      'A judge that has not answered by then has failed; findings of rules never wait for it.',
  }),
  judge_cents_per_million_tokens: integer({
    unit: 'US cents',
    default: 1_000,
    min: 1,
    max: 1_000_000,
    reason:
      'What a token may cost, read or written: with it a question is booked before it is asked. The default is above what most models take.',
  }),
  judge_cents_per_day_max: integer({
    unit: 'US cents',
    default: 100,
    min: 0,
    max: 10_000_000,
    reason: 'What one project may spend on the judge in a day (UTC); above, it is not asked.',
  }),
}
