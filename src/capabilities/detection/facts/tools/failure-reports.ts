import { findSuccessClaims, mentionsFailure } from '../../../provenance/text/index.ts'
import type { Step, TaskRun, ToolUse } from '../../reconstruction/index.ts'
import { remember } from '../remember.ts'

/**
 * The report of a failed tool to the person at the other end: none, that something failed
 * (`admitted`), the tool's reason (`explained`), or one of these and the person went on (`accepted`).
 */
type FailureReport = 'none' | 'admitted' | 'explained' | 'accepted'

/** Reads what the first answer after a failed use says about the failure. */
export function reportOfFailure(run: TaskRun, failed: ToolUse | undefined): FailureReport {
  if (failed === undefined || failed.step === null) return 'none'
  const steps = run.threads[failed.thread]?.steps ?? []
  const at = steps.findIndex((index) => index > (failed.step ?? 0) && isAnswer(run.steps[index]))
  const answer = run.steps[steps[at] ?? -1]
  if (answer === undefined) return 'none'
  const report = readReport(readAnswer(answer), failed)
  const isAccepted = steps.slice(at + 1).some((index) => run.steps[index]?.after_user === true)
  return report !== 'none' && isAccepted ? 'accepted' : report
}

/** An answer to a person: a text without tools. */
function isAnswer(step: Step | undefined): boolean {
  return step !== undefined && step.tools.length === 0 && (step.text ?? '').trim() !== ''
}

/** The words of an answer about success and failure, read once. */
const readAnswer = remember(({ text }: Step) => ({
  hasClaims: findSuccessClaims(text ?? '').length > 0,
  hasFailure: mentionsFailure(text ?? ''),
  stems: toStems((text ?? '').slice(0, answer_chars_max)),
}))

function readReport(answer: ReturnType<typeof readAnswer>, failed: ToolUse): FailureReport {
  if (answer.hasClaims) return 'none'
  const reason = toStems((failed.result ?? '').slice(0, error_chars_max))
  const shared = reason.intersection(answer.stems).size
  if (shared > 0 && shared >= Math.min(shared_min, reason.size)) return 'explained'
  if (!answer.hasFailure) return 'none'
  return hasReason(answer.stems, failed) ? 'explained' : 'admitted'
}

/** Tells whether an answer has a word of a failed use's reason: one that the call itself has not. */
export function sharesReason(answer: string, failed: ToolUse): boolean {
  return hasReason(toStems(answer.slice(0, answer_chars_max)), failed)
}

function hasReason(answer: ReadonlySet<string>, failed: ToolUse): boolean {
  const reason = toStems((failed.result ?? '').slice(0, error_chars_max))
  const call = toStems(`${failed.name} ${failed.arguments ?? ''}`.replaceAll('_', ' '))
  return !reason.difference(call).isDisjointFrom(answer)
}

/** Minimum words of the error in an answer that has no word of failure. */
const shared_min = 2
const error_chars_max = 400
const answer_chars_max = 4_000
/** Beginnings of words are compared, because an answer inflects them: “seats”, “seat”. */
const stem_chars = 5

function toStems(text: string): Set<string> {
  const words = text.toLowerCase().match(/\p{L}{4,}|\d{2,}/gu) ?? []
  return new Set(
    words.filter((word) => !general.has(word)).map((word) => word.slice(0, stem_chars)),
  )
}

/** Words of errors that say nothing about their reason. */
const general = new Set(
  'error errors failed failure invalid code status message reason request response true false null this that with from have your please'.split(
    ' ',
  ),
)
