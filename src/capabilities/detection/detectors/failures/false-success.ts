import { z } from 'zod'
import { asWritten, findSuccessClaims } from '../../../provenance/text/index.ts'
import type { Detector, FindingDraft, Severity } from '../../contract.ts'
import {
  cutText,
  limitGuess,
  natureOfTool,
  placesOfSteps,
  placesOfUses,
  remember,
  toFailureDraft,
  turnsOf,
  usesOfSteps,
  wasteOfSteps,
  wordsOfTool,
} from '../../facts/index.ts'
import type { Step, TaskRun, ToolUse } from '../../reconstruction/index.ts'

const settings = z.strictObject({})

/**
 * Finds answers that claim success although a tool that should change something failed and did not
 * succeed later. An answer that admits any failure claims no success.
 */
export const falseSuccess: Detector<typeof settings> = {
  name: 'false_success',
  kind: 'failure',
  types: ['false_success'],
  version: 2,
  needs: ['texts', 'results'],
  settings,
  detect(run, _settings, budget) {
    budget.spend(run.tools.length)
    return run.threads.flatMap((thread) => {
      budget.spend(thread.steps.length)
      return turnsOf(run, thread).flatMap((turn) => {
        const last = turn.at(-1)
        if (last === undefined || last.tools.length > 0 || !last.text) return []
        const uses = usesOfSteps(run, turn)
        budget.spend(uses.length)
        const failed = findUnresolved(uses)
        return failed === undefined ? [] : toFindings(run, last, { ...failed, uses })
      })
    })
  },
}

type Unresolved = {
  failed: ToolUse
  severity: Severity
  /** The claim must contain one of these words if other actions succeeded after the failure. */
  words: readonly string[] | undefined
}

/** Returns the latest unresolved failure of a turn; failed reads do not count. */
function findUnresolved(uses: readonly ToolUse[]): Unresolved | undefined {
  const at = uses.findLastIndex((use) => isFailedEffect(use))
  const failed = uses[at]
  if (failed === undefined) return findFailedEnd(uses)
  const good = uses.slice(at + 1).filter(isGood)
  if (good.some(({ name }) => name === failed.name)) return undefined
  const others = good.filter(({ name }) => {
    const { isEffect, isShell, isEnd } = natureOfTool(name)
    return isEffect || isShell || isEnd
  })
  if (others.length === 0) return { failed, severity: 'high', words: undefined }
  const taken = new Set(others.flatMap(({ name }) => wordsOfTool(name)))
  const words = wordsOfTool(failed.name).filter((word) => word.length > 3 && !taken.has(word))
  return words.length === 0 ? undefined : { failed, severity: 'high', words }
}

/** Tells whether a tool that changes something failed; "already exists" is the wanted state. */
function isFailedEffect(use: ToolUse): boolean {
  if (!natureOfTool(use.name).isEffect) return false
  return (use.fault !== null || saysFailed(use)) && !isThereAlready(use)
}

function isGood(use: ToolUse): boolean {
  return use.is_answered && use.fault === null && !saysFailed(use)
}

/**
 * Tells whether a result reports a failed state. For a tool that changes something this is its own
 * failure; for one that reads it is data.
 */
const saysFailed = remember(({ result }: ToolUse): boolean => {
  const head = (result ?? '').slice(0, resultHeadChars)
  return /"(?:status|state|result)" ?: ?"(?:failed|failure|error|rejected|declined)"/i.test(head)
})

function isThereAlready({ result }: ToolUse): boolean {
  return /already|exists/i.test((result ?? '').slice(0, resultHeadChars))
}

const resultHeadChars = 500

/** Finds a failed end of a turn for shells and tools of unknown nature. */
function findFailedEnd(uses: readonly ToolUse[]): Unresolved | undefined {
  const failed = uses.at(-1)
  if (failed === undefined || failed.fault === null || isThereAlready(failed)) return undefined
  const before = uses.findLast(({ step }) => step !== failed.step)
  const isStreak = before !== undefined && before.fault !== null
  return { failed, severity: isStreak ? 'medium' : 'low', words: undefined }
}

type ClaimedSuccess = Unresolved & { uses: readonly ToolUse[] }

function toFindings(
  run: TaskRun,
  step: Step,
  { failed, severity, words, uses }: ClaimedSuccess,
): FindingDraft[] {
  const claims = findSuccessClaims(step.text ?? '').filter(
    (sentence) => words === undefined || isAbout(sentence, words),
  )
  const claim = claims.find(isAboutTests) ?? claims[0]
  if (claim === undefined) return []
  const [said] = placesOfSteps(run, [step.index])
  const recovered = isFixedLater(run, step, failed)
  const faults = uses.filter((use) => use.name === failed.name && !isGood(use))
  const finding = toFailureDraft({
    type: 'false_success',
    severity: limitGuess(weighSeverity(severity, claim, failed), faults),
    recovered,
    began: said ?? failed.asked_by,
    summary: `The answer claims success (“${cutText(asWritten(step.text ?? '', claim), quote_chars_max)}”) though “${failed.name}” failed.`,
    start_step: step.index,
    end_step: step.index,
    places: [...(said === undefined ? [] : [said]), ...placesOfUses(faults)],
    waste: wasteOfSteps(run, recovered ? [] : [step.index]),
    confidence: severity === 'high' ? 0.9 : 0.7,
    evidence: {
      claim: cutText(asWritten(step.text ?? '', claim)),
      tool: failed.name,
      failed_step: failed.step,
      arguments: cutText(failed.arguments ?? ''),
      result: cutText(failed.result ?? ''),
    },
  })
  return [finding]
}

/** Raises the severity for a claim of passing tests directly after failing tests. */
function weighSeverity(severity: Severity, claim: string, { result }: ToolUse): Severity {
  const seen = (result ?? '').slice(-resultTailChars)
  return severity === 'low' && isAboutTests(claim) && failedTests.test(seen) ? 'medium' : severity
}

function isAboutTests(claim: string): boolean {
  return claim.includes('test') && claim.includes('pass')
}

/** Test runners print their summary at the end. */
const resultTailChars = 1_000
const failedTests =
  /\b[1-9]\d{0,5} (?:tests? )?(?:failed|failing|failures?|errors?)\b|\bFAIL(?:ED)?\b/

const quote_chars_max = 120
const stem_chars = 5

/** Compares the beginnings of words: “payment” is about `process_payments`. */
function isAbout(claim: string, words: readonly string[]): boolean {
  return words.some((word) => claim.includes(word.slice(0, stem_chars)))
}

/** Tells whether a later use of the tool succeeded and made the claim true. */
function isFixedLater(run: TaskRun, step: Step, failed: ToolUse): boolean {
  return (run.threads[step.thread]?.steps ?? []).some(
    (index) =>
      index > step.index &&
      (run.steps[index]?.tools ?? []).some((at) => {
        const use = run.tools[at]
        return use?.name === failed.name && isGood(use)
      }),
  )
}
