import { type Clock, sleep } from '../../kernel/time.ts'
import type { LedgerEntry } from '../../model/ledger-entry.ts'
import type { OutgoingMessage } from '../../platform/queue/index.ts'
import type { Logger, Metrics } from '../../platform/telemetry/index.ts'
import { WaitingEntries } from './ledger-entries.ts'
import { type LedgerMeters, type LedgerOutcome, ledgerMeters } from './ledger-meters.ts'

export type LedgerReporterOptions = {
  /** Resolves once the message is durable; repeated with the same id when it rejects. */
  publish(message: OutgoingMessage): Promise<void>
  newId: () => string
  clock: Clock
  metrics: Metrics
  logger: Logger
  /** Maximum time that an entry waits to be published, by default 1,000. */
  interval_ms?: number
  /** Maximum entries in memory while neither queue nor spool accepts them, by default 100,000. */
  entries_max?: number
}

/** Publishes the edge's side of the ledger. */
export type LedgerReporter = {
  /** Accepts entries of durable, rejected or lost items. Never throws and never waits. */
  accepted(entries: readonly LedgerEntry[]): void
  /** Publishes the waiting entries; resolves when they are durable or the attempt has failed. */
  flush(): Promise<void>
  /** Flushes with a few attempts; counts the entries that could not be published as dropped. */
  close(): Promise<void>
}

/**
 * Makes a reporter that keeps entries in memory and publishes them at most `interval_ms` later, in
 * one or more messages for each project on `ledger.<project_id>`. A failed message is published
 * again under the same id, so that it is stored once.
 *
 * A killed process loses at most a second of entries. The worker makes up for those of durable
 * items, since its own side of the ledger names the same messages. Memory is bounded: see
 * `WaitingEntries`.
 */
export function createLedgerReporter(options: LedgerReporterOptions): LedgerReporter {
  return new Reporter(options)
}

const interval_ms_default = 1_000
const entries_max_default = 100_000
/** Maximum unpublished messages over all projects, which limits their bytes to 4 MiB. */
const messages_max = 16
const maxCloseTries = 5
const closePauseMs = 200

class Reporter implements LedgerReporter {
  readonly #options: LedgerReporterOptions
  readonly #meters
  readonly #dropped
  readonly #waiting: WaitingEntries
  /** Messages that were published at least once and are not known to be durable. */
  #unsettled: LedgerMessage[] = []
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined

  constructor(options: LedgerReporterOptions) {
    this.#options = options
    this.#meters = ledgerMeters(options.metrics)
    this.#waiting = new WaitingEntries(options.entries_max ?? entries_max_default)
    this.#dropped = options.metrics.counter({
      name: 'looptrace_ledger_entries_dropped_total',
      help: 'Ledger entries of the edge that were dropped because queue and spool were unavailable.',
    })
    options.metrics.gauge({
      name: 'looptrace_ledger_entries_pending',
      help: 'Ledger entries of the edge that wait to be published.',
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
      if (this.#pending() === 0 || tries === maxCloseTries) break
      await sleep(closePauseMs)
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
    this.#options.logger.warn({ entries }, 'ledger entries were dropped: the queue is unavailable')
  }

  /** Publishes until nothing waits or a message fails. */
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
      this.#options.logger.warn(
        { err: error, entries },
        'publishing ledger entries failed; they wait',
      )
      return false
    }
  }
}

/**
 * Counts the items of accepted entries. Consecutive entries of one project and path are counted
 * together, because a label lookup costs more than a sum.
 */
function countEntries(meters: LedgerMeters, entries: readonly LedgerEntry[]): void {
  let items = 0
  let masked = 0
  for (let at = 0; at < entries.length; at += 1) {
    const entry = entries[at]
    if (entry === undefined) continue
    items += entry.items
    masked += entry.masked
    countReasons(meters, entry, 'rejected')
    countReasons(meters, entry, 'lost')
    const next = entries[at + 1]
    if (next?.project_id === entry.project_id && next.path === entry.path) continue
    const labels = { project_id: entry.project_id, path: entry.path, reason: '' }
    meters.count({ ...labels, outcome: 'accepted' }, items)
    meters.count({ ...labels, outcome: 'masked' }, masked)
    items = 0
    masked = 0
  }
}

function countReasons(
  meters: LedgerMeters,
  entry: LedgerEntry,
  outcome: Extract<LedgerOutcome, 'rejected' | 'lost'>,
): void {
  const { project_id, path } = entry
  for (const reason in entry[outcome]) {
    meters.count({ project_id, path, outcome, reason }, entry[outcome][reason] ?? 0)
  }
}

/** A message of the kind `ledger`, and its number of entries. */
type LedgerMessage = { outgoing: OutgoingMessage; entries: number }

/** Size at which a message is complete; a stream accepts at least 1 MiB. */
const message_chars_max = 240 * 1024
/** Maximum entries of a message, about what fills it. */
const maxMessageEntries = 1_000

/** Makes a message of entries of one project; undefined when none wait. */
function takeMessage(waiting: WaitingEntries, newId: () => string): LedgerMessage | undefined {
  const entries = waiting.take(maxMessageEntries)
  const [first] = entries
  if (first === undefined) return undefined
  let text = `{"entries":[${entryText(first)}`
  let taken = 1
  for (; taken < entries.length && text.length < message_chars_max; taken += 1) {
    const entry = entries[taken]
    if (entry) text += `,${entryText(entry)}`
  }
  waiting.putBack(entries.slice(taken))
  const subject = `ledger.${first.project_id}`
  const outgoing = { id: newId(), subject, data: Buffer.from(`${text}]}`) }
  return { outgoing, entries: taken }
}

/**
 * Serializes an entry. A plain accepted entry, one for each call, is written by hand at a third of
 * the cost: its texts are ids and words of Looptrace, which need no escaping.
 */
function entryText(entry: LedgerEntry): string {
  if (entry.message_id === '' || !isPlain(entry)) return JSON.stringify(entry)
  const { project_id, ingest_request_id, message_id, path, received_at_ms, items, masked } = entry
  return `{"project_id":"${project_id}","ingest_request_id":"${ingest_request_id}","message_id":"${message_id}","side":"accepted","path":"${path}","received_at_ms":${received_at_ms},"items":${items},"stored":0,"rejected":{},"lost":{},"masked":${masked},${restOfPlain}`
}

const restOfPlain =
  '"records":{"traces":0,"observations":0,"events":0,"links":0,"correlations":0},"attempts":0,"settled_at_ms":0,"error_reason":""}'

/** Length of a UUID. An id of another length is serialized by JSON.stringify. */
const uuid_chars = 36

function isPlain({ rejected, lost, ingest_request_id, message_id, project_id }: LedgerEntry) {
  for (const _ in rejected) return false
  for (const _ in lost) return false
  return (
    ingest_request_id.length === uuid_chars &&
    message_id.length === uuid_chars &&
    project_id.length === uuid_chars
  )
}
