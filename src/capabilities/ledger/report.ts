import type { Clock } from '../../kernel/time.ts'
import { sleep } from '../../kernel/time.ts'
import type { LedgerEntry } from '../../model/ledger-entry.ts'
import type { OutgoingMessage } from '../../platform/queue/index.ts'
import type { Logger, Metrics } from '../../platform/telemetry/index.ts'
import { countEntries } from './count-entries.ts'
import { type LedgerMessage, takeMessage } from './ledger-message.ts'
import { ledgerMeters } from './ledger-meters.ts'
import { WaitingEntries } from './waiting-entries.ts'

export type LedgerReporterOptions = {
  /** Resolves once the message is durable; repeated with the same id when it rejects. */
  publish(message: OutgoingMessage): Promise<void>
  newId: () => string
  clock: Clock
  metrics: Metrics
  logger: Logger
  /** How long an entry waits for others at most. 1,000 when left out. */
  interval_ms?: number
  /** Entries kept in memory while neither queue nor spool takes them. 100,000 when left out. */
  entries_max?: number
}

/** Tells the ledger what an edge has accepted. */
export type LedgerReporter = {
  /** Takes entries of items that are durable, refused or lost. Never throws, never waits. */
  accepted(entries: readonly LedgerEntry[]): void
  /** Publishes what waits; resolves when it is durable or could not be published now. */
  flush(): Promise<void>
  /** Flushes, with a few tries, and counts what could not be told as dropped. */
  close(): Promise<void>
}

/**
 * Keeps the accepted side of the ledger in memory and publishes it at most `interval_ms` later, a
 * message or more for each project, on `ledger.<project_id>`. What fails is published again under
 * the same id, so that it is stored once.
 *
 * A process that is killed takes at most a second of entries with it. Those of items in a message
 * are made good by the worker, whose own side of the ledger names the same message. Memory is
 * bounded: see `WaitingEntries`.
 */
export function createLedgerReporter(options: LedgerReporterOptions): LedgerReporter {
  return new Reporter(options)
}

const interval_ms_default = 1_000
const entries_max_default = 100_000
/** Messages made and not durable yet, over all projects: what bounds their bytes, to 4 MiB. */
const messages_max = 16
const closeTries_max = 5
const closePause_ms = 200

class Reporter implements LedgerReporter {
  readonly #options: LedgerReporterOptions
  readonly #meters
  readonly #dropped
  readonly #waiting: WaitingEntries
  /** Made, published once at least, and not known to be durable. */
  #unsettled: LedgerMessage[] = []
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined

  constructor(options: LedgerReporterOptions) {
    this.#options = options
    this.#meters = ledgerMeters(options.metrics)
    this.#waiting = new WaitingEntries(options.entries_max ?? entries_max_default)
    this.#dropped = options.metrics.counter({
      name: 'looptrace_ledger_entries_dropped_total',
      help: 'Ledger entries of the edge that neither queue nor spool took in time.',
    })
    options.metrics.gauge({
      name: 'looptrace_ledger_entries_pending',
      help: 'Ledger entries of the edge that are not published yet.',
      collect: (gauge) => gauge.set(this.#pending()),
    })
  }

  accepted(entries: readonly LedgerEntry[]): void {
    countEntries(this.#meters, entries)
    const dropped = this.#waiting.add(entries)
    if (dropped > 0) this.#drop(dropped)
    this.#schedule()
  }

  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    while (this.#running) await this.#running
    this.#running = this.#publishAll()
    await this.#running
    this.#running = undefined
    if (this.#pending() > 0) this.#schedule()
  }

  async close(): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      await this.flush()
      if (this.#pending() === 0 || tries === closeTries_max) break
      await sleep(closePause_ms)
    }
    clearTimeout(this.#timer)
    if (this.#pending() > 0) this.#drop(this.#pending())
  }

  #schedule(): void {
    const { interval_ms = interval_ms_default } = this.#options
    this.#timer ??= setTimeout(() => void this.flush(), interval_ms).unref()
  }

  #pending(): number {
    return this.#unsettled.reduce((sum, { entries }) => sum + entries, this.#waiting.size)
  }

  #drop(entries: number): void {
    this.#dropped.inc(entries)
    this.#options.logger.warn({ entries }, 'ledger entries were dropped: the queue is away')
  }

  /** Publishes until nothing waits, or until some message is not taken. */
  async #publishAll(): Promise<void> {
    for (;;) {
      while (this.#unsettled.length < messages_max) {
        const message = takeMessage(this.#waiting, this.#options.newId)
        if (message === undefined) break
        this.#unsettled.push(message)
      }
      if (this.#unsettled.length === 0) return
      const tried = await Promise.all(this.#unsettled.map((message) => this.#publish(message)))
      this.#unsettled = this.#unsettled.filter((_, at) => !tried[at])
      if (this.#unsettled.length > 0) return
    }
  }

  async #publish({ outgoing, entries }: LedgerMessage): Promise<boolean> {
    try {
      await this.#options.publish(outgoing)
      return true
    } catch (error) {
      this.#options.logger.warn({ err: error, entries }, 'ledger entries wait: not published')
      return false
    }
  }
}
