import type { Journal, JournalOutcome } from '../../../../platform/journal/index.ts'
import type { Logger, Metrics } from '../../../../platform/telemetry/index.ts'

/** Why a record was not in the journal when its answer ended. */
type SkipReason = Exclude<JournalOutcome, 'written'> | 'policy'

type TurnOptions = { journal: Journal; metrics: Metrics; logger: Logger }

/**
 * The calls that end in one turn of the event loop. At its end their records are written to the
 * journal at once, and then their answers end.
 */
export class JournalTurn {
  readonly #options: TurnOptions
  readonly #pack: () => void
  readonly #count: (records: number, outcome: JournalOutcome | 'policy') => void
  #waiting: (() => void)[] = []
  #packed = 0
  #leftOut = 0
  #isScheduled = false

  /** `pack` gives the journal the records of the turn. */
  constructor(options: TurnOptions, pack: () => void) {
    this.#options = options
    this.#pack = pack
    this.#count = journalMeters(options)
  }

  /** Calls back once the records of this turn are written, or were not. */
  wait(written: () => void): void {
    this.#waiting.push(written)
    this.#schedule()
  }

  /** Counts a record that `pack` gave to the journal. */
  packed(): void {
    if (!this.#options.journal.isKept) return
    this.#packed += 1
    // A record whose policy was read first comes after its turn.
    this.#schedule()
  }

  /** Counts a record that the journal must not hold, because its policy leaves something out. */
  leftOut(): void {
    if (this.#options.journal.isKept) this.#leftOut += 1
  }

  /** Ends the turn now. */
  end(): void {
    this.#pack()
    const outcome = this.#options.journal.write()
    if (this.#packed > 0) this.#count(this.#packed, outcome)
    if (this.#leftOut > 0) this.#count(this.#leftOut, 'policy')
    this.#packed = 0
    this.#leftOut = 0
    const waiting = this.#waiting
    this.#waiting = []
    for (const written of waiting) this.#answer(written)
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.end()
    })
  }

  /** A failure of one answer must not keep the others from ending. */
  #answer(written: () => void): void {
    try {
      written()
    } catch (error) {
      this.#options.logger.error({ err: error }, 'ending an answer failed')
    }
  }
}

function journalMeters({ journal, metrics }: TurnOptions) {
  const calls = metrics.counter({
    name: 'looptrace_proxy_journal_records_total',
    help: 'Records of calls by whether they were in the journal before their answers ended: written, or skipped and why.',
    labels: ['result', 'reason'],
  })
  metrics.gauge({
    name: 'looptrace_proxy_journal_bytes',
    help: 'Bytes on the disk of the journal of calls.',
    collect: (gauge) => gauge.set(journal.stats().bytes),
  })
  metrics.gauge({
    name: 'looptrace_proxy_journal_up',
    help: 'Whether records are written to the journal: 0 without a usable folder, and for some seconds after a failed or slow write.',
    collect: (gauge) => gauge.set(journal.stats().isWriting ? 1 : 0),
  })
  return (records: number, outcome: JournalOutcome | SkipReason) => {
    if (outcome === 'written') calls.inc({ result: 'written', reason: '' }, records)
    else calls.inc({ result: 'skipped', reason: outcome }, records)
  }
}
