import type {
  DeadLetter,
  DeadLetterFilter,
  OutgoingMessage,
  QueueStats,
  UnavailableReason,
} from '../contract.ts'

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
