import type { Clock } from '../../../kernel/time.ts'
import type { Outbound } from '../../../platform/outbound/index.ts'
import type { AuditTables, Kysely } from '../../../platform/relational/index.ts'
import type { Logger, Metrics } from '../../../platform/telemetry/index.ts'
import type { Chore } from '../../jobs/index.ts'
import type { StreamReceiver } from './receiver.ts'
import { type ForcedLimits, type SendResult, type StreamLimits, sendBatch } from './send-batch.ts'
import { ensureStream, type Lag, measureLag } from './store.ts'

type Db = Kysely<AuditTables>

export type StreamOptions = {
  db: Db
  receivers: readonly StreamReceiver[]
  outbound: Outbound
  limits: StreamLimits
  clock: Clock
  logger: Logger
  metrics: Metrics
  random?: () => number
}

const every_ms = 1_000

/** Returns a chore for each receiver, which sends it the records that it has not accepted yet. */
export function streamChores(options: StreamOptions): Chore[] {
  const meters = streamMeters(options)
  return options.receivers.map((receiver) => {
    const stream = new Stream(receiver, options, meters)
    return {
      name: `stream audit records to ${receiver.name}`,
      every_ms,
      reason: 'a stream sends the records of all organizations',
      run: (signal) => stream.sendAll(signal),
    }
  })
}

type Meters = ReturnType<typeof streamMeters>

function streamMeters({ db, metrics, clock, receivers, logger }: StreamOptions) {
  /** Sets a gauge for each stream. NaN while PostgreSQL is unavailable. */
  const collect =
    (value: (lag: Lag) => number) =>
    async (gauge: { set(labels: { stream: string }, value: number): void }) => {
      for (const { name: stream } of receivers) {
        const lag = await measureLag(db, stream).catch((error: unknown) => {
          logger.debug({ err: error, stream }, 'the lag of an audit stream was not measured')
          return undefined
        })
        gauge.set({ stream }, lag === undefined ? Number.NaN : value(lag))
      }
    }
  metrics.gauge({
    name: 'looptrace_audit_stream_lag_records',
    help: 'Audit records that a stream has not sent yet. NaN while PostgreSQL is unavailable.',
    labels: ['stream'],
    collect: collect(({ records }) => records),
  })
  metrics.gauge({
    name: 'looptrace_audit_stream_lag_seconds',
    help: 'Age of the oldest audit record that a stream has not sent yet; 0 without one.',
    labels: ['stream'],
    collect: collect(({ oldest_ms }) =>
      oldest_ms === null ? 0 : Math.max(0, clock.now_ms() - oldest_ms) / 1_000,
    ),
  })
  return {
    sent: metrics.counter({
      name: 'looptrace_audit_stream_records_total',
      help: 'Audit records that receivers accepted. Repeated records count again.',
      labels: ['stream'],
    }),
    refused: metrics.counter({
      name: 'looptrace_audit_stream_refused_records_total',
      help: 'Audit records that a receiver of OTLP logs reported as refused (partial success).',
      labels: ['stream'],
    }),
    failures: metrics.counter({
      name: 'looptrace_audit_stream_failures_total',
      help: 'Failed requests of audit streams. They are repeated.',
      labels: ['stream', 'reason'],
    }),
    setAside: metrics.counter({
      name: 'looptrace_audit_stream_set_aside_records_total',
      help: 'Audit records that a stream went on without, because the receiver refuses only them.',
      labels: ['stream'],
    }),
  }
}

/** A stream in this process. It keeps the limits that apply since a refused body. */
class Stream {
  readonly #receiver: StreamReceiver
  readonly #options: StreamOptions
  readonly #meters: Meters
  #isKnown = false
  #forced: ForcedLimits

  constructor(receiver: StreamReceiver, options: StreamOptions, meters: Meters) {
    this.#receiver = receiver
    this.#options = options
    this.#meters = meters
    this.#forced = { records_max: options.limits.records_max, leavesOut: false }
  }

  /** Sends batches until nothing is left to send now. */
  async sendAll(signal: AbortSignal): Promise<void> {
    const { db, outbound, limits, clock, random = Math.random } = this.#options
    if (!this.#isKnown) await ensureStream(db, this.#receiver.name)
    this.#isKnown = true
    while (!signal.aborted) {
      const result = await sendBatch({
        db,
        outbound,
        receiver: this.#receiver,
        limits,
        forced: this.#forced,
        now_ms: clock.now_ms(),
        random,
        signal,
      })
      if (!this.#goesOn(result)) return
    }
  }

  /** Logs and counts a result. Returns whether to send another batch now. */
  #goesOn(result: SendResult): boolean {
    const { name: stream } = this.#receiver
    const { logger } = this.#options
    switch (result.kind) {
      case 'sent':
        this.#noteSent(result)
        return true
      case 'refused': {
        const { records, status } = result
        this.#meters.failures.inc({ stream, reason: 'content' })
        this.#forced = fewer(records)
        logger.warn({ stream, status, records }, 'an audit receiver refused a body; sending less')
        return true
      }
      case 'failed': {
        const { reason, detail, wait_ms } = result
        this.#meters.failures.inc({ stream, reason })
        // The next attempt begins with the complete record again.
        if (reason === 'content') this.#forced = oneRecord
        logger.warn({ stream, reason, detail, wait_ms }, 'sending audit records failed; retrying')
        return false
      }
      case 'set_aside': {
        const { kind: _kind, ...record } = result
        this.#meters.setAside.inc({ stream })
        this.#forced = oneRecord
        logger.error(
          { stream, ...record },
          'an audit receiver refuses a record; the stream goes on without it, and the audit trail keeps it',
        )
        return true
      }
      default:
        return false
    }
  }

  #noteSent({ records, refused }: Extract<SendResult, { kind: 'sent' }>): void {
    const { name: stream } = this.#receiver
    const { logger, limits } = this.#options
    this.#meters.sent.inc({ stream }, records)
    if (this.#forced.leavesOut) {
      logger.warn({ stream }, 'an audit record was sent without its details')
    }
    const records_max = Math.min(this.#forced.records_max * 2, limits.records_max)
    this.#forced = { records_max, leavesOut: false }
    if (refused === undefined) return
    this.#meters.refused.inc({ stream }, refused.records)
    logger.error({ stream, ...refused }, 'an audit receiver refused some records of a batch')
  }
}

/** Limits of a request with one complete record. */
const oneRecord: ForcedLimits = { records_max: 1, leavesOut: false }

/** Returns the limits after the content of a batch was refused. */
function fewer(records: number): ForcedLimits {
  return { records_max: Math.max(1, Math.floor(records / 2)), leavesOut: records === 1 }
}
