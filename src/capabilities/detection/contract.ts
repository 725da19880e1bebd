import type { z } from 'zod'
import type { FindingKind } from '../../model/finding-kind.ts'
import type { Severity } from '../../model/severity.ts'
import type { Place, TaskRun } from './reconstruction/index.ts'

export { type FindingKind, findingKinds } from '../../model/finding-kind.ts'
export { type Severity, severities } from '../../model/severity.ts'

/** Evidence of a finding as JSON; texts are cut to `maxEvidenceTextChars`. */
export type Evidence = { readonly [key: string]: unknown }

/** Maximum characters of a text in evidence. */
export const maxEvidenceTextChars = 500
/** Maximum observations of a finding. */
export const maxFindingPlaces = 100

/** A finding in a run. The same run gives the same findings, regardless of batches. */
export type FindingDraft = {
  kind: FindingKind
  /** A type listed in `docs/internals/detection.md`, such as `repeat_call`. */
  type: string
  severity: Severity
  /**
   * Identifies the finding while the task grows: unique within its type and made of stable parts,
   * such as the first observation.
   */
  anchor: string
  /** One sentence, based on the evidence. */
  summary: string
  /** Indexes in `TaskRun.steps`; null without a step. */
  start_step: number | null
  end_step: number | null
  /** Length of the pattern in steps, and number of repeats; null where they do not apply. */
  period: number | null
  repeats: number | null
  /** Observations of the finding, in order; at most `maxFindingPlaces`. */
  places: readonly Place[]
  /** Cost of the calls that were wasted. */
  wasted_tokens: number
  wasted_nano_dollars: bigint
  /** These calls, as indexes in `TaskRun.calls`; overlapping findings count a call once. */
  wasted_calls?: readonly number[]
  /** True if a later step shows that the task recovered. */
  recovered: boolean
  /** 0–1. */
  confidence: number
  evidence: Evidence
}

/**
 * Content that a detector needs; without it the run is `not_checked` by the detector.
 * `history`: all messages, also those that only the provider holds. `tool_outcomes`: whether tool uses succeeded, which spans without content report too.
 */
export type Need = 'arguments' | 'results' | 'tool_outcomes' | 'texts' | 'history'

/** The reason of a detector that needs what an earlier part of a rewritten history said. */
export const historyDroppedReason = 'the client dropped a part of the history'

/** Limits the work of one detector on one run. */
export type WorkBudget = {
  /** Counts units of work, about a comparison each. Throws BudgetSpent at the limit. */
  spend(units: number): void
}

/**
 * Finds one kind of trouble. Pure: reads a run and returns findings, independent of other
 * detectors. `settings` is the schema of its thresholds: default, bounds, description and source.
 */
export type Detector<Settings extends z.ZodObject = z.ZodObject> = {
  /** Key of its settings, and its name in `detectors` of a request. */
  name: string
  kind: FindingKind
  /** Types of its findings. */
  types: readonly string[]
  /** Incremented with each change of its findings; stored with each finding. */
  version: number
  needs: readonly Need[]
  settings: Settings
  detect(
    run: TaskRun,
    settings: z.output<Settings>,
    budget: WorkBudget,
    /** Memory of earlier tasks of the conversation; undefined without any. */
    prior?: ContextMemory,
  ): FindingDraft[]
  /** Returns why a part of the run could not be checked, beyond `needs`. */
  findGap?(run: TaskRun): string | undefined
  /** Counts the values of the answers after `detect`; values that were not checked may be wrong. */
  countValues?(run: TaskRun): ValueCounts
}

/** Values of answers that need a source: those that were checked, and those that were not. */
export type ValueCounts = { checked: number; not_checked: number }

/** A detector reached a limit on one run; the run is `not_analysed` by it. */
export class BudgetSpent extends Error {
  override readonly name = 'BudgetSpent'
}

/** Kinds of statements: rules for later answers, and facts. */
const statementKinds = [
  'language',
  'format',
  'length',
  'forbidden',
  'required',
  'persona',
  'topic',
  'tool',
  'fact',
] as const
export type StatementKind = (typeof statementKinds)[number]

/**
 * A checkable statement of the system or the user. The newest statement of a `slot` replaces the
 * earlier ones.
 */
export type Statement = {
  kind: StatementKind
  /** Topic: `language`, `length:words`, `sign:!`, `forbidden:cheap`, `topic:politics`, `fact:order number`. */
  slot: string
  /** Normalised value: `fr`, `..50`, `none`, `cheap`, `4711`. */
  value: string
  /** Validity: all later answers, or only the answer to this message. */
  holds: 'always' | 'turn'
  /** Beginnings of the words of the event that ends it: `desk built`. */
  until?: string
  /** The questions for which it holds, by their words: `has billing`, `start Q:`. */
  when?: string
  /** The sentence, cut to `quote_chars_max`. */
  quote: string
  /** True if a classifier read it, because no wording is known: it may be no rule. */
  is_likely?: true
}

/** A statement with its speaker and origin. */
export type MemoryEntry = Statement & {
  role: 'system' | 'user'
  task_id: string
  /** The call that first contained it. */
  place: Place
}

/**
 * Statements still valid at the end of a task, in order: plain JSON with at most
 * `maxMemoryEntries` entries. Later tasks of the conversation start from it.
 */
export type ContextMemory = { version: 1; entries: readonly MemoryEntry[] }

/** Maximum entries of a context memory; the oldest are dropped. */
export const maxMemoryEntries = 200
/** Maximum characters of a quoted sentence. */
export const quote_chars_max = 300
