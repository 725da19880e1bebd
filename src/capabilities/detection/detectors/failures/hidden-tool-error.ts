import { z } from 'zod'
import type { Detector, FindingDraft } from '../../contract.ts'
import {
  argumentsOf,
  cutText,
  effectOfTool,
  findSuccessClaims,
  natureOfTool,
  noWaste,
  placesOfSteps,
  placesOfUses,
  sentencesOf,
  toFailureDraft,
  turnsOf,
  usesOfSteps,
  wordsOfTool,
} from '../../facts/index.ts'
import type { HistoryBreak, Message, Step, TaskRun, ToolUse } from '../../reconstruction/index.ts'

const settings = z.strictObject({})

/**
 * Finds summaries that hide the error of a tool: the last words of a turn, the text given to a tool
 * that ends the task, or the summary that replaces a history says that something is done whose only
 * attempt failed. `false_success` finds answers with the usual words of success.
 */
export const hiddenToolError: Detector<typeof settings> = {
  name: 'hidden_tool_error',
  kind: 'failure',
  types: ['hidden_tool_error'],
  version: 1,
  needs: ['texts', 'results'],
  settings,
  detect(run, _settings, budget) {
    if (run.tools.length === 0) return []
    budget.spend(run.tools.length)
    const ofTurns = run.threads.flatMap((thread) =>
      turnsOf(run, thread).flatMap((turn) => {
        budget.spend(turn.length)
        const last = turn.at(-1)
        return last === undefined ? [] : findInTurn(run, last, usesOfSteps(run, turn))
      }),
    )
    return [...ofTurns, ...run.breaks.flatMap((broken) => findInSummary(run, broken))]
  },
}

/** The text of a summary, and the uses that it is about. */
type Summary = { text: string; uses: readonly ToolUse[]; isEnd: boolean }

function findInTurn(run: TaskRun, last: Step, all: readonly ToolUse[]): FindingDraft[] {
  const end = all.find(({ step, name }) => step === last.index && natureOfTool(name).isEnd)
  if (last.text === null || (last.tools.length > 0 && end === undefined)) return []
  const text = end === undefined ? last.text : sayingOf(end)
  const uses = all.filter(({ step }) => step !== last.index)
  const found = findHidden({ text, uses, isEnd: end !== undefined })
  return found === undefined ? [] : [toFinding(run, last.index, found)]
}

function sayingOf(use: ToolUse): string {
  return Object.values(argumentsOf(use))
    .filter((value) => typeof value === 'string')
    .join('\n')
}

/** Compares the summary of a compaction with the uses that it replaced. */
function findInSummary(run: TaskRun, broken: HistoryBreak): FindingDraft[] {
  if (broken.kind !== 'compacted') return []
  const lost = new Set(broken.lost)
  const steps = new Set(broken.lost.flatMap((at) => run.messages[at]?.step ?? []))
  const uses = run.tools.filter(({ step }) => step !== null && steps.has(step))
  if (!uses.some(isFailed)) return []
  const isNew = ({ call, step, index }: Message) =>
    call === broken.call && step === null && !lost.has(index)
  const text = run.messages
    .filter(isNew)
    .map((message) => message.text)
    .join('\n')
  const found = findHidden({ text, uses, isEnd: true })
  const step = run.calls[broken.call]?.step ?? null
  return found === undefined || step === null ? [] : [toFinding(run, step, found)]
}

type Hidden = { failed: ToolUse; claim: string }

const summary_chars_max = 8_000

function findHidden({ text, uses, isEnd }: Summary): Hidden | undefined {
  if (!uses.some(isFailed)) return undefined
  const said = text.slice(0, summary_chars_max)
  if (admission.test(said)) return undefined
  const isUsual = !isEnd && findSuccessClaims(said).length > 0
  const sentences = sentencesOf(said).filter((sentence) => !doubt.test(sentence))
  for (const [at, failed] of uses.entries()) {
    if (!isFailed(failed) || effectOfTool(failed) !== 'changes') continue
    const isLast = at === uses.length - 1
    // That claim is one of `false_success`.
    if (isUsual && (isLast || natureOfTool(failed.name).isEffect)) continue
    if (isMadeGood(failed, uses.slice(at + 1))) continue
    const claim = sentences.find((sentence) => saysDone(sentence, failed, isLast))
    if (claim !== undefined) return { failed, claim }
  }
  return undefined
}

const result_chars_max = 600
/** Reports of failure, where a tool does not report an error. */
const failedWords =
  /\b(?:declined|rejected|refused|denied|failed|rolled back|unpaid|not (?:sent|saved|created|booked|paid)|no space left|is (?:offline|locked|full)|invalid)\b/i

function isFailed({ fault, result, is_answered }: ToolUse): boolean {
  if (
    !is_answered ||
    result === null ||
    /already|exists/i.test(result.slice(0, result_chars_max))
  ) {
    return false
  }
  if (fault === 'error') return true
  if (fault === 'outage')
    return /\b(?:offline|unavailable|refused)\b/i.test(result.slice(0, result_chars_max))
  return result.length <= result_chars_max && failedWords.test(result)
}

/** Words of a text that admits that not all went well, and of a sentence that claims nothing. */
const admission =
  /\b(?:fail\w*|errors?|unable|cannot|can't|couldn't|could not|unfortunately|however|problem|issue|declined|denied|rejected|refused|offline|instead)\b|\b(?:was|were|has|have|is|are|did|does|do)(?: not\b|n't\b)|\bno longer\b|\bstill\b/i
const doubt =
  /\?\s*$|\b(?:no|not|nothing|never|none|only|without|if|once|when|would|could|should|may|might|try|please)\b/i
const done =
  /\b(?:is|are|was|were|has|have|been|now|done|complete\w*|finished|gone through|all set|successfully|exists?)\b/i

/** Tells whether a sentence claims what a failed use should have done. */
function saysDone(sentence: string, failed: ToolUse, isLast: boolean): boolean {
  const lower = sentence.toLowerCase()
  const verbs = wordsOfTool(failed.name).flatMap((word) => pastForms[word] ?? [])
  if (verbs.some((verb) => new RegExp(`\\b${verb}\\b`).test(lower))) return true
  if (!done.test(lower)) return false
  const named = isLast
    ? [...objectsOf(failed), ...findObjects(failed.result ?? '')]
    : objectsOf(failed)
  if (named.some((object) => lower.includes(object))) return true
  return isLast && natureOfTool(failed.name).isShell && wasDone.test(lower)
}

const wasDone = /\b(?:has|have) (?:run|been (?:run|made|applied|created|written|installed))\b/

const pastForms: Readonly<Record<string, readonly string[]>> = {
  ...{ send: ['sent'], set: ['set'], pay: ['paid'], refund: ['refunded', 'refund'] },
  ...{ book: ['booked'], reserve: ['reserved'], write: ['written', 'wrote'], create: ['created'] },
  ...{
    delete: ['deleted'],
    remove: ['removed'],
    update: ['updated'],
    cancel: ['cancelled', 'canceled'],
  },
  ...{
    deploy: ['deployed'],
    upload: ['uploaded'],
    submit: ['submitted'],
    transfer: ['transferred'],
  },
  ...{ order: ['ordered'], schedule: ['scheduled'], assign: ['assigned'], save: ['saved'] },
}

/** Paths, ids, addresses and numbers of the arguments, in lower case. */
function objectsOf(use: ToolUse): string[] {
  return findObjects(use.arguments ?? '')
}

function findObjects(given: string): string[] {
  const text = given.slice(0, object_chars_max).toLowerCase()
  const found = text.match(/[\w.@/-]{4,80}/g) ?? []
  return [...new Set(found.filter((word) => /[./@\d-]/.test(word) && /\w\w/.test(word)))]
}

const object_chars_max = 2_000

/** Tells whether a later use did what the failed one should have done. */
function isMadeGood(failed: ToolUse, later: readonly ToolUse[]): boolean {
  const objects = objectsOf(failed)
  return later.some((use) => {
    if (isFailed(use) || !use.is_answered) return false
    if (use.sig === failed.sig) return true
    const others = new Set(objectsOf(use))
    const isShell = natureOfTool(failed.name).isShell
    if (use.name === failed.name && !isShell && objects.length === 0) return true
    return objects.some((object) => others.has(object))
  })
}

const quote_chars_max = 120

function toFinding(run: TaskRun, step: number, { failed, claim }: Hidden): FindingDraft {
  const [said] = placesOfSteps(run, [step])
  return toFailureDraft({
    type: 'hidden_tool_error',
    severity: 'medium',
    recovered: false,
    began: said ?? failed.asked_by,
    topic: `${failed.index}`,
    summary: `The summary says “${cutText(claim, quote_chars_max)}” though “${failed.name}” failed and was not repeated with success.`,
    start_step: step,
    end_step: step,
    places: [...(said === undefined ? [] : [said]), ...placesOfUses([failed])],
    waste: noWaste,
    confidence: 0.8,
    evidence: {
      claim: cutText(claim),
      tool: failed.name,
      failed_step: failed.step,
      arguments: cutText(failed.arguments ?? ''),
      result: cutText(failed.result ?? ''),
    },
  })
}
