import { parentPort, workerData } from 'node:worker_threads'
import { QueueUnavailable } from '../contract.ts'
import { waitLeft } from '../run-batch.ts'
import { SqliteStore } from './sqlite-store.ts'
import type {
  CallFailure,
  ClaimOptions,
  NumberedAnswer,
  NumberedCall,
  SqliteAnswers,
  SqliteCall,
  SqliteThreadOptions,
  ThreadGreeting,
} from './sqlite-thread-client.ts'

/** Runs the thread that owns a queue file. Started by `sqlite-thread-client.ts` only. */
function serve(port: NonNullable<typeof parentPort>): void {
  const say = (greeting: ThreadGreeting) => port.postMessage(greeting)
  try {
    const store = new SqliteStore(workerData as SqliteThreadOptions)
    const commits = new GroupCommit(store, {
      now_ms: () => Date.now(),
      answer: (answers) => port.postMessage(answers, payloadsOf(answers)),
      closed: () => port.close(),
    })
    port.on('message', (calls: NumberedCall[]) => commits.add(calls))
    say({ opened: true })
  } catch (error) {
    say({ opened: false, failure: failureOf(error) })
  }
}

/** Lists buffers to transfer without a copy. SQLite allocates one buffer per message. */
function payloadsOf(answers: readonly NumberedAnswer[]): ArrayBuffer[] {
  return answers.flatMap((answer) => {
    if (!('value' in answer) || !Array.isArray(answer.value)) return []
    return answer.value.flatMap((item) =>
      'data' in item && item.data.buffer instanceof ArrayBuffer ? [item.data.buffer] : [],
    )
  })
}

/** Clock and callbacks of the group commits. */
type GroupCommitPorts = {
  now_ms: () => number
  answer: (answers: NumberedAnswer[]) => void
  closed: () => void
}

/** Maximum pages that one step of housekeeping frees on disk. */
const reclaim_pages = 1_024
const housekeeping_delay_ms = 1_000
/** Pause of the timer after a failed commit (for example, a full disk). */
const failureRestMs = 1_000
/** Maximum delay of setTimeout: 2^31 - 1. */
const timer_ms_max = 2_147_483_647

type Waiter = { number: number; claim: ClaimOptions; deadline_ms: number | undefined }

/**
 * Commits all calls of one turn of the event loop in one transaction, and answers only after the
 * COMMIT, so that many publishes and acks share one fsync. Waiting claims are served in the same
 * transaction, when messages arrive or become due, without polling.
 */
class GroupCommit {
  readonly #store: SqliteStore
  readonly #ports: GroupCommitPorts
  #calls: NumberedCall[] = []
  #waiters: Waiter[] = []
  #scheduled = false
  #timer: NodeJS.Timeout | undefined
  #housekeeping: NodeJS.Timeout | undefined
  #closeNumber: number | undefined
  #rest_until_ms = 0

  constructor(store: SqliteStore, ports: GroupCommitPorts) {
    this.#store = store
    this.#ports = ports
  }

  /** Adds calls. They are committed before the next turn of the event loop. */
  add(calls: readonly NumberedCall[]): void {
    this.#calls.push(...calls)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => this.#commit())
  }

  #commit(): void {
    this.#scheduled = false
    const calls = this.#calls
    this.#calls = []
    const waiters = this.#waiters
    let answers: NumberedAnswer[] = []
    try {
      this.#store.transact(() => {
        for (const { number, call } of calls) answers.push(...this.#run(number, call))
        answers.push(...this.#serveWaiters())
      })
    } catch (error) {
      this.#waiters = waiters
      this.#rest_until_ms = this.#ports.now_ms() + failureRestMs
      answers = calls.map(({ number }) => ({ number, failure: failureOf(error) }))
    }
    if (answers.length > 0) this.#ports.answer(answers)
    if (this.#closeNumber === undefined) {
      this.#armTimer()
      this.#armHousekeeping()
    } else {
      this.#close(this.#closeNumber)
    }
  }

  /** Runs one call. A claim has no answer yet. A rejected call does not affect the others. */
  #run(number: number, call: SqliteCall): NumberedAnswer[] {
    switch (call.name) {
      case 'claim':
        this.#waiters = [...this.#waiters, { number, claim: call.claim, deadline_ms: undefined }]
        return []
      case 'cancel_claims':
        return [...this.#cancel(call.consumer), { number, value: null }]
      case 'close':
        this.#closeNumber = number
        return this.#cancel(undefined)
      default:
        try {
          return [{ number, value: this.#change(call) }]
        } catch (error) {
          if (error instanceof QueueUnavailable) return [{ number, failure: failureOf(error) }]
          throw error
        }
    }
  }

  #change(
    call: Exclude<SqliteCall, { name: 'claim' | 'cancel_claims' | 'close' }>,
  ): SqliteAnswers[typeof call.name] {
    const now_ms = this.#ports.now_ms()
    const store = this.#store
    switch (call.name) {
      case 'publish':
        store.publish(call.message, now_ms)
        return null
      case 'ack':
        store.ack(call.seq)
        return null
      case 'retry':
        store.retry(call.seq, call.attempt, now_ms + call.delay_ms)
        return null
      case 'bury':
        store.bury(call, now_ms)
        return null
      case 'stats':
        return { ...store.stats(now_ms), has_room: store.hasRoomFor(0) }
      case 'oldest_age':
        return store.oldestAgeMs(call.subject, now_ms)
      case 'dead_letters':
        return store.deadLetters(call.limit, call.filter)
      case 'replay':
        return store.replay(call, now_ms)
    }
  }

  /** Ends waiting claims with an empty batch: of one consumer, or all. */
  #cancel(consumer: number | undefined): NumberedAnswer[] {
    const gone = this.#waiters.filter(
      ({ claim }) => consumer === undefined || claim.consumer === consumer,
    )
    this.#waiters = this.#waiters.filter((waiter) => !gone.includes(waiter))
    return gone.map(({ number }) => ({ number, value: [] }))
  }

  #serveWaiters(): NumberedAnswer[] {
    const answers: NumberedAnswer[] = []
    const waiting: Waiter[] = []
    const now_ms = this.#ports.now_ms()
    for (const waiter of this.#waiters) {
      const { number, claim } = waiter
      const deadline_ms = this.#deadlineOf(waiter, now_ms)
      const value =
        deadline_ms !== undefined && deadline_ms <= now_ms ? this.#store.claim(claim, now_ms) : []
      if (value.length > 0) answers.push({ number, value })
      else waiting.push({ number, claim, deadline_ms })
    }
    this.#waiters = waiting
    return answers
  }

  /** Returns when to serve a claim: now if its batch is full, never if no message is available. */
  #deadlineOf({ claim, deadline_ms }: Waiter, now_ms: number): number | undefined {
    const { messages, bytes, first_ms } = this.#store.available(claim, now_ms)
    if (messages === 0) return undefined
    if (messages >= claim.messages_max || bytes >= claim.bytes_max) return now_ms
    return deadline_ms ?? now_ms + waitLeft(claim.batch_wait_ms, first_ms, now_ms)
  }

  /** Schedules the end of a batch's wait, or the next redelivery. */
  #armTimer(): void {
    clearTimeout(this.#timer)
    if (this.#waiters.length === 0) return
    const moments = this.#waiters.map(({ deadline_ms }) => deadline_ms)
    const due = Math.min(
      ...[...moments, this.#store.nextDueMs()].map((moment) => moment ?? Number.MAX_SAFE_INTEGER),
    )
    if (due === Number.MAX_SAFE_INTEGER) return
    const wait_ms = Math.max(0, Math.max(due, this.#rest_until_ms) - this.#ports.now_ms())
    this.#timer = setTimeout(() => this.#schedule(), Math.min(wait_ms, timer_ms_max))
  }

  #armHousekeeping(): void {
    this.#housekeeping ??= setTimeout(() => this.#keepHouse(), housekeeping_delay_ms)
  }

  /** Runs shortly after work, and repeats while there is space to free. */
  #keepHouse(): void {
    this.#housekeeping = undefined
    try {
      this.#store.transact(() => this.#store.purgeSeen(this.#ports.now_ms()))
      if (this.#store.reclaim(reclaim_pages)) this.#armHousekeeping()
    } catch {
      this.#armHousekeeping()
    }
  }

  #close(number: number): void {
    clearTimeout(this.#timer)
    clearTimeout(this.#housekeeping)
    this.#store.close()
    this.#ports.answer([{ number, value: null }])
    this.#ports.closed()
  }
}

/** Converts an error for the other thread. A full disk counts as a full queue. */
function failureOf(error: unknown): CallFailure {
  if (error instanceof QueueUnavailable) return { message: error.message, reason: error.reason }
  const message = error instanceof Error ? error.message : String(error)
  return { message, reason: /full/i.test(message) ? 'full' : 'away' }
}

if (parentPort !== null) serve(parentPort)
