import type { z } from 'zod'
import type { PricedCall } from '../../platform/models/index.ts'
import type {
  JobTables,
  Kysely,
  TaskTables,
  VerificationTables,
} from '../../platform/relational/index.ts'
import type { ValueReason } from '../provenance/sources/index.ts'
import type { Verdict } from './verdicts/verdict.ts'

/** The database of runs and of the jobs that do them. */
export type RunsDb = Kysely<VerificationTables & TaskTables & JobTables>

/** Verifiers that a request can name. */
export const verifierNames = ['kb', 'web', 'multi_model', 'citation'] as const
export type VerifierName = (typeof verifierNames)[number]

/** Trace and observation ids of an observation. */
type ObservationPlace = { trace_id: string; observation_id: string }

/** A text that the agent saw before its answer. */
export type SeenSource = {
  /** Names the text in evidence, such as `tool get_invoice` or `user message 2`. */
  source: string
  role: 'tool' | 'user' | 'system'
  text: string
  /** The first observation whose input had it. */
  place: ObservationPlace
  /** False for content that was cut, masked or off, and for images. */
  is_complete: boolean
  /** SHA-256 of the text, in hexadecimal. */
  digest: string
}

/** The answer that a run verifies, with the texts that the agent saw before it. */
export type AnswerContext = {
  project_id: string
  trace_id: string
  task_id: string | null
  user_id: string | null
  environment: string | null
  /** ISO 8601. */
  trace_start: string
  /** The last message of the user; '' without one. */
  question: string
  answer: {
    text: string
    place: ObservationPlace
    digest: string
    is_complete: boolean
  }
  seen: readonly SeenSource[]
  /** Models that wrote the answer: none of them judges it alone. */
  models: readonly string[]
  /** Why the context has gaps, as sentences; empty when it is complete. */
  gaps: readonly string[]
}

/** A location in a source that a verdict relies on. */
export type StoredEvidence = {
  /** Kind of the source. `trace`: a text that the agent saw. */
  kind: 'trace' | 'document' | 'fact' | 'web' | 'model'
  /** Name of the text, its URL, or the name of the model. */
  source: string
  /** Verbatim text of the source; at most `quote_chars_max`. */
  quote: string
  /** UTF-16 offsets of the quote in the source; null for facts and models. */
  at: readonly [start: number, end: number] | null
  /** SHA-256 of the source, in hexadecimal; null for facts and models. */
  digest: string | null
  /** Where to open the source again. */
  place?: ObservationPlace
  document?: { document_id: string; version: number }
}

export const quote_chars_max = 500

/** The verdict of one verifier on one claim, as it is stored. */
export type StoredResult = {
  verifier: VerifierName
  verdict: Verdict
  /** Stated probability that the verdict is right, 0–1, before calibration. */
  confidence: number
  /**
   * How it was reached: `provenance`, `words`, `quote`, `facts`, `judge`, `grounding`, `agreement`.
   */
  method: string
  evidence: readonly StoredEvidence[]
  /** One sentence for a reader, such as `not found in what the agent saw`. */
  note: string
}

/** A value of a claim, with its sources. Offsets are those of the answer. */
export type StoredValue = {
  value: string
  kind: string
  at: readonly [start: number, end: number]
  verdict: 'seen' | 'derived' | 'exempt' | 'other_subject' | 'unsupported' | 'not_checked'
  /** Calculation of a derived value, such as `12 + 30 = 42`; null for other values. */
  derivation: string | null
  /** Why a value was not checked, or needs no source; null for others. Absent in older claims. */
  reason?: ValueReason | null
  evidence: readonly StoredEvidence[]
}

/** A claim as verifiers read it. */
export type ClaimToCheck = {
  text: string
  /** Offsets in the answer. */
  at: readonly [start: number, end: number]
  values: readonly StoredValue[]
}

/** A priced call of a run. A repeated run uses the same key. */
export type PaidCall = PricedCall & {
  /** `extraction`: a model lists the claims of the answer. */
  verifier: VerifierName | 'extraction'
}

/**
 * Sends each priced call of a run once: books its cost in the budget of the project's day, records
 * it, and returns the recorded reply when a run is repeated after a crash.
 */
export type PaidCalls = (
  call: PaidCall,
  signal: AbortSignal,
) => Promise<
  | { outcome: 'answered'; reply: Record<string, unknown> }
  | { outcome: 'over_budget' | 'failed'; reason: string }
>

/** A passage that a judge reads. */
export type Passage = { source: string; text: string }

/**
 * The opinion of a model on a claim. The quote is verbatim in one passage, or there is no verdict.
 */
export type Opinion = {
  verdict: Extract<Verdict, 'supported' | 'contradicted' | 'unverifiable'>
  confidence: number
  /** Index of the passage and UTF-16 offsets of the quote in its text; null when unverifiable. */
  quote: { passage: number; at: readonly [start: number, end: number] } | null
  method: 'judge' | 'grounding'
  /** Model or models. */
  models: readonly string[]
  note: string
}

/** Models that judge a claim by passages. They read them as data and must quote. */
export type Judge = (
  question: {
    claim: string
    context: string
    passages: readonly Passage[]
    verifier: VerifierName
  },
  signal: AbortSignal,
) => Promise<Opinion>

/** The input of a verifier in one run. */
export type VerifierContext = {
  run_id: string
  answer: AnswerContext
  paid: PaidCalls
  /** Undefined when no model is configured. */
  judge: Judge | undefined
}

/** Checks one claim. Rejects only if the run should be retried. */
export type CheckClaim = (
  claim: ClaimToCheck,
  signal: AbortSignal,
) => Promise<Omit<StoredResult, 'verifier'>>

/** A verifier of the registry. It is skipped without its models and endpoints. */
export type Verifier<Options extends z.ZodObject = z.ZodObject> = {
  name: VerifierName
  /** One sentence for `GET /api/v1/verification/config`. */
  description: string
  cost: 'free' | 'search' | 'model'
  options: Options
  /** Returns why it cannot work in this installation; undefined when it can. */
  unavailable(): string | undefined
  /** Returns the maximum cost of a run. */
  estimate(claims: number, options: z.output<Options>): { calls: number; nano_dollars: bigint }
  /** Prepares a run: reads and indexes once for all claims. */
  open(
    context: VerifierContext,
    options: z.output<Options>,
    signal: AbortSignal,
  ): Promise<CheckClaim>
}
