import type {
  DeadLetter,
  DeadLetterFilter,
  OutgoingMessage,
  QueueStats,
  UnavailableReason,
} from '../contract.ts'

/** What the SQLite thread is started with. Sizes in bytes, times in milliseconds. */
export type SqliteThreadOptions = {
  path: string
  bytes_max: number
  duplicate_window_ms: number
  reclaim_free_bytes: number
}

/** One call to the thread, beside its number. */
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

/** What each call answers. */
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

/** A wait for messages of one kind; it is answered when there are some, or by `cancel_claims`. */
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

/** Calls travel in lists: everything that was called in one turn of the event loop. */
export type NumberedCall = { number: number; call: SqliteCall }

/** Answers travel in lists too: one list for each commit. */
export type NumberedAnswer =
  | { number: number; value: SqliteAnswers[keyof SqliteAnswers] }
  | { number: number; failure: CallFailure }

/** A QueueUnavailable on its way between threads (class instances don't travel). */
export type CallFailure = { message: string; reason: UnavailableReason }

/** What the thread says first: that the file is open, or why not. */
export type ThreadGreeting = { opened: true } | { opened: false; failure: CallFailure }
