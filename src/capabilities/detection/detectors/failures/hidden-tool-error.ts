import { z } from 'zod'
import { objectFrom, parsedJson } from '../../../../kernel/json-values.ts'
import { findSuccessClaims } from '../../../provenance/text/index.ts'
import type { Detector, FindingDraft } from '../../contract.ts'
import {
  argumentsOf,
  cutText,
  effectOfTool,
  findPassedOver,
  natureOfTool,
  noWaste,
  placesOfSteps,
  placesOfUses,
  remember,
  sentencesOf,
  sharesReason,
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
  version: 2,
  needs: ['texts', 'results'],
  settings,
  detect(run, _settings, budget) {
    if (run.tools.length === 0) return []
    budget.spend(run.tools.length)
    const ofTurns = run.threads.flatMap((thread) =>
      turnsOf(run, thread).flatMap((turn) => {
        budget.spend(turn.length)
        return findInTurn(run, turn, usesOfSteps(run, turn))
      }),
    )
    return [...ofTurns, ...run.breaks.flatMap((broken) => findInSummary(run, broken))]
  },
}

/** The text of a summary, and the uses that it is about. */
type Summary = { text: string; uses: readonly ToolUse[]; isEnd: boolean }

function findInTurn(run: TaskRun, turn: readonly Step[], all: readonly ToolUse[]): FindingDraft[] {
  const last = turn.at(-1)
  if (last === undefined) return []
  const end = all.find(({ step, name }) => step === last.index && natureOfTool(name).isEnd)
  if (last.text === null || (last.tools.length > 0 && end === undefined)) return []
  const text = end === undefined ? last.text : sayingOf(end)
  const uses = all.filter(({ step }) => step !== last.index)
  const found = findHidden({ text, uses, isEnd: end !== undefined })
  if (found !== undefined) return [toFinding(run, last.index, found)]
  return end === undefined ? findPassed(run, turn, uses) : []
}

/** Finds an answer that goes on as if a failed change was made. */
function findPassed(run: TaskRun, turn: readonly Step[], uses: readonly ToolUse[]): FindingDraft[] {
  const last = turn.at(-1)
  if (last === undefined || claimsSuccess(last)) return []
  const passed = findPassedOver(run, turn, uses)
  if (passed === undefined) return []
  const { failed, sentence, isClaimed } = passed
  return [toFinding(run, last.index, { failed, claim: sentence }, isClaimed)]
}

const claimsSuccess = remember(({ text }: Step) => findSuccessClaims(text ?? '').length > 0)

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
    const hasSucceeded = uses.some((use) => use.name === failed.name && isDone(use))
    const claim = sentences.find((sentence) => saysDone(sentence, { failed, isLast, hasSucceeded }))
    const rest = { text: said.replace(claim ?? '', ''), uses: uses.slice(at + 1), isEnd }
    if (claim !== undefined && !isSettled(failed, rest)) return { failed, claim }
  }
  return undefined
}

const result_chars_max = 600
/** Reports of failure, where a tool does not report an error. */
const failedWords =
  /(?<!\b(?:0|no|none|zero|never) (?:\w+ )?)\b(?:declined|rejected|refused|denied|failed|rolled back|not (?:sent|saved|created|booked|paid)|no space left|is (?:offline|locked|full)|invalid)\b(?!\w*(?: \w+)?["']?\s?[:=]\s?["']?(?:0|none|null|no|false|\[\])(?![\w.]))/gi

const isFailed = remember((use: ToolUse): boolean => {
  const { fault, result, is_answered } = use
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
  return result.length <= result_chars_max && saysFailed(use, result)
})

/** Tells whether a result has a word of failure that is neither a count of zero nor an argument. */
function saysFailed(use: ToolUse, result: string): boolean {
  const given = (use.arguments ?? '').toLowerCase()
  const words = outcomeOf(result).match(failedWords) ?? []
  return words.some((word) => !given.includes(word.toLowerCase()))
}

/** Returns the part of a result that tells its outcome: of an object, the values of such keys. */
function outcomeOf(result: string): string {
  const object = objectFrom(parsedJson(result))
  if (object === undefined) return result
  return Object.entries(object)
    .filter(([key]) => outcomeKey.test(key))
    .map(([, value]) => (typeof value === 'string' ? value : JSON.stringify(value)))
    .join('\n')
}

const outcomeKey = /^(?:status|state|outcome|result|message|msg|errors?|reason|details?)$/i

function isDone(use: ToolUse): boolean {
  return use.is_answered && !isFailed(use)
}

/** Tells whether the tool itself reported the error: by a flag, an exit code or a status. */
function isReported({ fault, is_guessed = false }: ToolUse): boolean {
  return fault !== null && !is_guessed
}

/** Words of a text that admits that not all went well, and of a sentence that claims nothing. */
const admission =
  /\b(?:fail\w*|errors?|unable|cannot|can't|couldn't|could not|unfortunately|however|problem|issue|declined|denied|rejected|refused|offline|instead|rolled back|reverted|down|bounced|out of|full|locked|unpaid|missing|stuck|pending|unavailable|unreachable|fehlgeschlagen|gescheitert|leider|abgelehnt|kein\w*|geen|aucune?|impossible|refusée?|não|zurückgerollt|nicht|mislukt|helaas|teruggedraaid|geweigerd|niet|fallado|rechazad[oa]|revertid[oa]|purtroppo|fallit[oa]|falhou|malheureusement)\b|\béchou|\bfall[óo]\b|\bcaíd[oa]|\bno (?:se|pud|fue|está|ha|hay|funcion)|\b(?:was|were|has|have|is|are|did|does|do)(?: not\b|n't\b)|\bno longer\b|\bstill\b/i
const doubt =
  /\?\s*$|\b(?:no|not|nothing|never|none|only|without|if|once|when|as soon as|(?<!\b(?:has|have|was|were)\b.{0,80})will|sobald|would|could|should|may|might|try|please)\b/i
const done =
  /\b(?:is|are|was|were|has|have|been|now|done|complete\w*|finished|gone through|all set|successfully|exists?)\b/i

/** The failed use of a claim; `hasSucceeded`: its tool succeeded for something else. */
type Attempt = { failed: ToolUse; isLast: boolean; hasSucceeded: boolean }

/** Tells whether a sentence claims what a failed use should have done. */
function saysDone(sentence: string, { failed, isLast, hasSucceeded }: Attempt): boolean {
  const lower = sentence.toLowerCase()
  const verbs = wordsOfTool(failed.name).flatMap((word) => pastForms[word] ?? [])
  const isOfAll = !hasSucceeded || /\b(?:all|both|each|every\w*)\b/.test(lower)
  if (isOfAll && verbs.some((verb) => new RegExp(`\\b${verb}\\b`).test(lower))) return true
  if (!done.test(lower)) return false
  const named = isLast
    ? [...objectsOf(failed), ...findObjects(failed.result ?? '')]
    : objectsOf(failed)
  if (named.some((object) => lower.includes(object))) return true
  return isLast && natureOfTool(failed.name).isShell && wasDone.test(lower)
}

const wasDone = /\b(?:has|have) (?:run|been (?:run|made|applied|created|written|installed))\b/

const pastForms: Readonly<Record<string, readonly string[]>> = {
  send: ['sent'],
  set: ['set'],
  pay: ['paid'],
  refund: ['refunded', 'refund'],
  book: ['booked'],
  reserve: ['reserved'],
  write: ['written', 'wrote'],
  create: ['created'],
  delete: ['deleted'],
  remove: ['removed'],
  update: ['updated'],
  cancel: ['cancelled', 'canceled'],
  deploy: ['deployed'],
  upload: ['uploaded'],
  submit: ['submitted'],
  transfer: ['transferred'],
  order: ['ordered'],
  schedule: ['scheduled'],
  assign: ['assigned'],
  save: ['saved'],
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

/** Tells whether a later use made a failure good, or the rest of an answer to a person gives its reason. */
function isSettled(failed: ToolUse, { text, uses, isEnd }: Summary): boolean {
  return isMadeGood(failed, uses) || (!isEnd && sharesReason(text, failed))
}

/** Tells whether a later use did what the failed one should have done. */
function isMadeGood(failed: ToolUse, later: readonly ToolUse[]): boolean {
  const objects = withNames(objectsOf(failed))
  return later.some((use) => {
    if (!isDone(use)) return false
    if (use.sig === failed.sig) return true
    const others = new Set(withNames(objectsOf(use)))
    const isShell = natureOfTool(failed.name).isShell
    if (use.name === failed.name && !isShell && objects.length === 0) return true
    return objects.some((object) => others.has(object))
  })
}

/** Adds the last parts of paths: `a.txt` of `/x/a.txt`. */
function withNames(objects: readonly string[]): string[] {
  return objects.flatMap((object) => [object, ...findObjects(object.split('/').at(-1) ?? '')])
}

const quote_chars_max = 120

function toFinding(
  run: TaskRun,
  step: number,
  { failed, claim }: Hidden,
  isClaimed = true,
): FindingDraft {
  const [said] = placesOfSteps(run, [step])
  const isCertain = isReported(failed) && isClaimed
  const outcome = isCertain
    ? `“${failed.name}” failed and was not repeated with success`
    : `the result of “${failed.name}” reads like a failure`
  return toFailureDraft({
    type: 'hidden_tool_error',
    severity: isCertain ? 'medium' : 'low',
    recovered: false,
    began: said ?? failed.asked_by,
    topic: `${failed.index}`,
    summary: `The summary says “${cutText(claim, quote_chars_max)}” though ${outcome}.`,
    start_step: step,
    end_step: step,
    places: [...(said === undefined ? [] : [said]), ...placesOfUses([failed])],
    waste: noWaste,
    confidence: isCertain ? 0.8 : 0.6,
    evidence: {
      claim: cutText(claim),
      tool: failed.name,
      failed_step: failed.step,
      arguments: cutText(failed.arguments ?? ''),
      result: cutText(failed.result ?? ''),
    },
  })
}
