import { Worker } from 'node:worker_threads'
import {
  type DeadLetter,
  type DeadLetterFilter,
  type OutgoingMessage,
  type QueueStats,
  QueueUnavailable,
  type UnavailableReason,
} from '../contract.ts'

/** A client, in the main thread, of the thread that owns a queue file. */
export type SqliteThread = {
  /** Calls the thread. `payload` is transferred, not copied. Rejects with QueueUnavailable. */
  call<N extends SqliteCall['name']>(
    call: Extract<SqliteCall, { name: N }>,
    payload?: ArrayBuffer,
  ): Promise<SqliteAnswers[N]>
  /** Commits earlier calls, closes the file and ends the thread. May be called twice. */
  close(): Promise<void>
}

/** Starts the thread. Rejects with QueueUnavailable when the file can't be opened. */
export async function startSqliteThread(options: SqliteThreadOptions): Promise<SqliteThread> {
  const worker = new Worker(new URL('./sqlite-thread.ts', import.meta.url), {
    workerData: options,
  })
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  const greeting = await greetingOf(worker)
  if (!greeting.opened) {
    await exited
    throw new QueueUnavailable(greeting.failure.message, greeting.failure)
  }
  const calls = new CallsToThread(worker)
  return {
    call: (call, payload) => calls.call(call, payload),
    close: async () => {
      calls.end()
      await exited
    },
  }
}

function greetingOf(worker: Worker): Promise<ThreadGreeting> {
  return new Promise((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', (cause) =>
      reject(new QueueUnavailable('the thread of the queue file did not start', { cause })),
    )
  })
}

type Waiting = { resolve: (value: never) => void; reject: (error: Error) => void }

/** Numbers calls, and sends all calls of one turn of the event loop together. */
class CallsToThread {
  readonly #worker: Worker
  readonly #waiting = new Map<number, Waiting>()
  #outbox: NumberedCall[] = []
  #payloads: ArrayBuffer[] = []
  #last = 0
  #gone: QueueUnavailable | undefined

  constructor(worker: Worker) {
    this.#worker = worker
    worker.on('message', (answers: NumberedAnswer[]) => {
      for (const answer of answers) this.#settle(answer)
    })
    worker.once('error', (cause) => this.#fail('the thread of the queue file died', cause))
    worker.once('exit', () => this.#fail('the queue is closed', undefined))
  }

  call<N extends SqliteCall['name']>(
    call: Extract<SqliteCall, { name: N }>,
    payload?: ArrayBuffer,
  ): Promise<SqliteAnswers[N]> {
    if (this.#gone !== undefined) return Promise.reject(this.#gone)
    return new Promise((resolve, reject) => {
      this.#last += 1
      this.#waiting.set(this.#last, { resolve, reject })
      if (this.#outbox.length === 0) queueMicrotask(() => this.#send())
      this.#outbox.push({ number: this.#last, call })
      if (payload) this.#payloads.push(payload)
    })
  }

  end(): void {
    if (this.#gone !== undefined) return
    this.call({ name: 'close' }).catch(() => undefined)
    this.#gone = new QueueUnavailable('the queue is closed', { reason: 'closed' })
  }

  #send(): void {
    const [calls, payloads] = [this.#outbox, this.#payloads]
    this.#outbox = []
    this.#payloads = []
    this.#worker.postMessage(calls, payloads)
  }

  #settle(answer: NumberedAnswer): void {
    const waiting = this.#waiting.get(answer.number)
    if (waiting === undefined) return
    this.#waiting.delete(answer.number)
    if ('failure' in answer) {
      waiting.reject(new QueueUnavailable(answer.failure.message, answer.failure))
    } else {
      waiting.resolve(answer.value as never)
    }
  }

  #fail(message: string, cause: unknown): void {
    this.#gone ??= new QueueUnavailable(message, { reason: 'closed', cause })
    for (const waiting of this.#waiting.values()) waiting.reject(this.#gone)
    this.#waiting.clear()
  }
}

/** Options of the SQLite thread. Sizes in bytes, times in milliseconds. */
export type SqliteThreadOptions = {
  path: string
  bytes_max: number
  duplicate_window_ms: number
  reclaim_free_bytes: number
}

/** One call to the thread, without its number. */
export type SqliteCall =
  | { name: 'publish'; message: OutgoingMessage }
  | { name: 'claim'; claim: ClaimOptions }
  | { name: 'cancel_claims'; consumer: number }
  | { name: 'ack'; seq: number }
  | { name: 'retry'; seq: number; attempt: number; delay_ms: number }
  | { name: 'bury'; seq: number; attempt: number; reason: string }
  | { name: 'stats' }
  | { name: 'oldest_age'; subject: string }
  | { name: 'dead_letters'; limit: number; filter: DeadLetterFilter }
  | { name: 'replay'; id: string; project_id: string | undefined }
  | { name: 'close' }

/** Result of each call. */
export type SqliteAnswers = {
  publish: null
  claim: ClaimedMessage[]
  cancel_claims: null
  ack: null
  retry: null
  bury: null
  stats: QueueStats & { has_room: boolean }
  oldest_age: number
  dead_letters: DeadLetter[]
  replay: boolean
  close: null
}

/** A claim of messages of one kind. It ends with messages, or by `cancel_claims`. */
export type ClaimOptions = {
  consumer: number
  kind: string
  messages_max: number
  bytes_max: number
  batch_wait_ms: number
  ack_wait_ms: number
  attempts_max: number
}

export type ClaimedMessage = {
  seq: number
  id: string
  subject: string
  data: Uint8Array
  attempt: number
}

/** A numbered call. Calls of one turn of the event loop are sent as a list. */
export type NumberedCall = { number: number; call: SqliteCall }

/** The answer to a call. Answers are sent as one list per commit. */
export type NumberedAnswer =
  | { number: number; value: SqliteAnswers[keyof SqliteAnswers] }
  | { number: number; failure: CallFailure }

/** A QueueUnavailable between threads, which cannot transfer class instances. */
export type CallFailure = { message: string; reason: UnavailableReason }

/** First message of the thread: the file is open, or the reason why not. */
export type ThreadGreeting = { opened: true } | { opened: false; failure: CallFailure }
