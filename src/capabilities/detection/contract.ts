import type { z } from 'zod'
import type { Place, TaskRun } from './reconstruction/index.ts'

export const findingKinds = ['loop', 'failure', 'context'] as const
export type FindingKind = (typeof findingKinds)[number]

export const severities = ['info', 'low', 'medium', 'high', 'critical'] as const
export type Severity = (typeof severities)[number]

/** JSON that shows what a finding rests on: texts are cut to `evidenceText_chars_max`. */
export type Evidence = { readonly [key: string]: unknown }

export const evidenceText_chars_max = 500
/** Observations that a finding names. */
export const findingPlaces_max = 100

/** What a detector found in a run. The same run gives the same findings, in whatever batches it came. */
export type FindingDraft = {
  kind: FindingKind
  /** The word of the list of `docs/internals/detection.md`, such as `repeat_call`. */
  type: string
  severity: Severity
  /**
   * What keeps it the same finding while the task grows: unique among those of its type, and made
   * of what does not change any more, such as the observation that it began with.
   */
  anchor: string
  /** One sentence, made of the evidence. */
  summary: string
  /** Indexes of `TaskRun.steps`; null when it has no step. */
  start_step: number | null
  end_step: number | null
  /** Length of the pattern in steps, and how often it came; null where it has neither. */
  period: number | null
  repeats: number | null
  /** The observations it rests on, in order; at most `findingPlaces_max`. */
  places: readonly Place[]
  /** What the calls cost that a reader would call wasted. */
  wasted_tokens: number
  wasted_nano_dollars: bigint
  /** A later step shows that the task got over it. */
  recovered: boolean
  /** 0..1. */
  confidence: number
  evidence: Evidence
}

/**
 * What a detector needs of a run to say anything; without it the run is `not checked` by it.
 * `tool_outcomes`: whether tools' uses went well, which spans without content tell too.
 */
export type Need = 'arguments' | 'results' | 'tool_outcomes' | 'texts'

/** What bounds the work of one detector on one run. */
export type WorkBudget = {
  /** Counts units of work, about a comparison each. Throws BudgetSpent when the bound is reached. */
  spend(units: number): void
}

/**
 * Finds one kind of trouble; pure. It reads a run and gives findings, and knows no other detector.
 * `settings` is the schema of its thresholds, each with default, bounds, description and source.
 */
export type Detector<Settings extends z.ZodObject = z.ZodObject> = {
  /** The key of its settings, and the name in `detectors` of a request. */
  name: string
  kind: FindingKind
  /** The types that it gives. */
  types: readonly string[]
  /** Goes up with each change of what it finds: stored findings carry it. */
  version: number
  needs: readonly Need[]
  settings: Settings
  detect(
    run: TaskRun,
    settings: z.output<Settings>,
    budget: WorkBudget,
    /** What earlier tasks of the conversation said, undefined when there were none. */
    prior?: ContextMemory,
  ): FindingDraft[]
}

/** The bound of a detector's work on one run was reached; the run is `not analysed` by it. */
export class BudgetSpent extends Error {
  override readonly name = 'BudgetSpent'
}

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
export type MemoryEntry = Statement & {
  role: 'system' | 'user'
  task_id: string
  /** The call that first brought it. */
  place: Place
}

/**
 * What was said in a task and still held at its end, in the order said: plain JSON, bounded by
 * `ledgerEntries_max`. It is what a later task of the same conversation starts from.
 */
export type ContextMemory = { version: 1; entries: readonly MemoryEntry[] }

export const memoryEntries_max = 200
export const quote_chars_max = 300
