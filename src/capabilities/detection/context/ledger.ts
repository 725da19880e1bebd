import type { Place } from '../reconstruction/contract.ts'

/** What a statement asks of later answers, or tells as a fact. */
export const statementKinds = [
  'language',
  'format',
  'length',
  'forbidden',
  'required',
  'persona',
  'tool',
  'fact',
] as const
export type StatementKind = (typeof statementKinds)[number]

/**
 * One thing that the system or the user said and that later answers can be checked against.
 * Statements of the same `slot` replace each other: the newest one holds.
 */
export type Statement = {
  kind: StatementKind
  /** What it is about: `language`, `length:words`, `forbidden:cheap`, `fact:order number`. */
  slot: string
  /** What it says of it, normalised: `fr`, `50`, `cheap`, `4711`. */
  value: string
  /** How long it holds: from then on, or for the answer to this message. */
  holds: 'always' | 'turn'
  /** Its sentence, cut to `quote_chars_max`. */
  quote: string
}

/** A statement with who said it and where. */
export type LedgerEntry = Statement & {
  role: 'system' | 'user'
  task_id: string
  /** The call that first brought it. */
  place: Place
}

/**
 * What was said in a task and still held at its end, in the order said: plain JSON, bounded by
 * `ledgerEntries_max`. It is what a later task of the same conversation starts from.
 */
export type ContextLedger = { version: 1; entries: readonly LedgerEntry[] }

export const ledgerEntries_max = 200
export const quote_chars_max = 300
