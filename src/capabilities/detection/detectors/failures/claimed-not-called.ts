import { z } from 'zod'
import {
  asWritten,
  type DoneClaim,
  findDoneClaims,
  readClaimedCount,
} from '../../../provenance/text/index.ts'
import {
  type Detector,
  type FindingDraft,
  historyDroppedReason,
  type Severity,
} from '../../contract.ts'
import {
  argumentsOf,
  callOf,
  cutText,
  findUntaken,
  isChange,
  isStated,
  isToolOf,
  mayHaveDone,
  natureOfTool,
  noWaste,
  placesOfSteps,
  placesOfUses,
  readRequest,
  remember,
  says,
  sentencesOf,
  toFailureDraft,
  turnsOf,
  usesOfSteps,
  wordsOfTool,
} from '../../facts/index.ts'
import type { Step, TaskRun, ToolUse } from '../../reconstruction/index.ts'

const settings = z.strictObject({})

/**
 * Finds answers that claim an action which the agent never took: no tool of that name was called
 * though the request declares one, or it was called for fewer things than the answer counts (“all
 * five reservations” after two calls). Failed calls belong to `false_success`.
 */
export const claimedNotCalled: Detector<typeof settings> = {
  name: 'claimed_not_called',
  kind: 'failure',
  types: ['claimed_not_called'],
  version: 3,
  needs: ['texts', 'arguments', 'history'],
  settings,
  detect(run, _settings, budget) {
    budget.spend(run.steps.length)
    // Another thread, or a dropped part of the history, can have the call.
    if (run.threads.length !== 1 || run.breaks.length > 0) return []
    return run.steps.flatMap((step) => {
      if (step.tools.length > 0 || step.is_partial || !step.text) return []
      const claims = readClaims(step)
      if (claims.length === 0 && !step.after_user) return []
      budget.spend(run.tools.length + run.messages.length)
      const found = claims.flatMap((claim) => checkClaim(run, step, claim)).slice(0, 1)
      return found.length > 0 ? found : findUntakenAction(run, step, claims)
    })
  },
  findGap: ({ breaks, tools }) =>
    breaks.length > 0 && tools.length > 0 ? historyDroppedReason : undefined,
}

const readClaims = remember(({ text }: Step) => findDoneClaims(text ?? ''))

function checkClaim(run: TaskRun, step: Step, claim: DoneClaim): FindingDraft[] {
  const before = run.tools.filter((use) => (use.step ?? -1) < step.index)
  return [
    ...findShortfall(run, step, { claim, before }),
    ...findAbsence(run, step, { claim, before }),
  ]
}

/** Finds an action that the user asked for or agreed to, and whose tool, by its own words, was never called. */
function findUntakenAction(run: TaskRun, step: Step, claims: readonly DoneClaim[]): FindingDraft[] {
  const before = run.tools.filter((use) => (use.step ?? -1) < step.index)
  const turn = usesOfTurn(run, step)
  const untaken = findUntaken(run, { step, claims, before, turn })
  if (untaken === undefined) return []
  const { tool, claim, isNamed } = untaken
  if (claim !== undefined && (givesText(step, claim) || isStated(run, step, claim))) return []
  const sentence = claim?.sentence ?? sentencesOf(step.text ?? '')[0] ?? ''
  const quote = cutText(asWritten(step.text ?? '', sentence), quote_chars_max)
  return [
    toFinding(run, step, {
      claim: claim ?? { sentence, verb: '', participle: '', form: 'state', subject: '' },
      tool,
      uses: [],
      confidence: isNamed ? 0.7 : 0.5,
      severity: isNamed && turn.length === 0 ? 'medium' : 'low',
      summary: `The answer reads as if what was asked for was done (“${quote}”), but “${tool}” was never called.`,
    }),
  ]
}

type CheckedClaim = { claim: DoneClaim; before: readonly ToolUse[] }

/** Finds a count in a claim that is higher than the number of things that a tool changed. */
function findShortfall(run: TaskRun, step: Step, { claim, before }: CheckedClaim): FindingDraft[] {
  const claimed = readClaimedCount(claim.sentence)
  if (claimed === undefined) return []
  const stem = toStem(claimed.noun)
  const done = before.filter((use) => use.fault === null && natureOfTool(use.name).isEffect)
  const about = done.filter((use) => wordsOfUse(use).some((word) => toStem(word) === stem))
  const things = new Set(about.map((use) => identityOf(use, stem)))
  if (things.size === 0 || things.size >= claimed.count || about.some(hasSeveral)) return []
  const names = new Set(about.map(({ name }) => name))
  if (done.some(({ name }) => !names.has(name))) return []
  // Some can have been done before, as another result says.
  if (before.some((use) => !about.includes(use) && says(use.result, claim.participle))) return []
  const [tool = ''] = names
  const count = `${things.size} of ${claimed.count}`
  return [
    toFinding(run, step, {
      claim,
      tool,
      uses: about,
      confidence: 0.8,
      summary: `The answer says that ${claimed.count} ${claimed.noun} were dealt with (“${quoteOf(step, claim)}”), but “${tool}” was called for ${count}.`,
    }),
  ]
}

/** Finds a claimed action whose tool is declared and was never called. */
function findAbsence(run: TaskRun, step: Step, { claim, before }: CheckedClaim): FindingDraft[] {
  const declared = callOf(run, step)?.tools?.map(({ name }) => name) ?? []
  const request = readRequest(run, step)
  const tools = declared.filter((name) => isToolOf(name, claim, request))
  const [tool] = tools
  if (tool === undefined) return findUncheckedClaim(run, step, { claim, before })
  if (isOffer.test(step.text ?? '') || givesText(step, claim)) return []
  const turn = usesOfTurn(run, step)
  if (turn.some(isChange) || before.some((use) => mayHaveDone(use, claim, tool))) return []
  if (isStated(run, step, claim)) return []
  const isSure = claim.form === 'own' && claim.verb !== '' && wordsOfTool(tool).includes(claim.verb)
  return [
    toFinding(run, step, {
      claim,
      tool,
      uses: [],
      confidence: isSure ? 0.85 : 0.75,
      severity: turn.length === 0 && (isSure || request !== undefined) ? 'medium' : 'low',
      summary: `The answer claims an action (“${quoteOf(step, claim)}”), but “${tool}” was never called.`,
    }),
  ]
}

/** An answer that asks for consent to the action has not taken it. */
const isOffer =
  /\b(?:shall i|should i|would you like me|do you want me|may i|soll ich|voulez-vous que|quiere que)\b/i

/**
 * Finds a claim to have checked something whose tool was never called: all nouns of its name are in
 * the sentence, and no result says a word about them.
 */
function findUncheckedClaim(
  run: TaskRun,
  step: Step,
  { claim, before }: CheckedClaim,
): FindingDraft[] {
  if (claim.form !== 'own' || claim.verb !== 'check') return []
  const declared = callOf(run, step)?.tools ?? []
  const tool = declared.find(({ name }) => {
    const nouns = wordsOfTool(name).filter((word) => word.length > 3 && !general.has(word))
    if (nouns.length === 0 || natureOfTool(name).isEffect) return false
    if (!nouns.every((noun) => (step.text ?? '').toLowerCase().includes(noun))) return false
    return !before.some((use) =>
      nouns.some((noun) => `${use.name} ${use.result ?? ''}`.toLowerCase().includes(noun)),
    )
  })
  if (tool === undefined) return []
  return [
    toFinding(run, step, {
      claim,
      tool: tool.name,
      uses: [],
      confidence: 0.6,
      severity: 'low',
      summary: `The answer says that something was checked (“${quoteOf(step, claim)}”), but “${tool.name}” was never called.`,
    }),
  ]
}

/** Words of reading tools that name nothing. */
const general = new Set(
  'check find list look lookup search read fetch query show view info details status data item items with from user customer account order orders'.split(
    ' ',
  ),
)

function usesOfTurn(run: TaskRun, step: Step): readonly ToolUse[] {
  return usesOfSteps(run, turnsByStep(run).get(step) ?? [])
}

const turnsByStep = remember((run: TaskRun) => {
  const turns = run.threads.flatMap((thread) => turnsOf(run, thread))
  return new Map(turns.flatMap((turn) => turn.map((step) => [step, turn] as const)))
})

/** Tells whether the answer itself has the text that it says was made: “a plan for you: day 1 …”. */
function givesText({ text }: Step, { verb, sentence }: DoneClaim): boolean {
  if (!makingVerbs.has(verb)) return false
  const answer = (text ?? '').toLowerCase().replaceAll('’', "'")
  const at = answer.indexOf(sentence)
  return at >= 0 && /:(?=\s)|\n\s*(?:[-*•>#|]|\d+[.)])|```|\n\n[\s\S]{80}/.test(answer.slice(at))
}

const makingVerbs = new Set(
  'create make write update change modify add schedule file replace set put extend'.split(' '),
)

/** Words of a call: its tool's name and the names of its arguments. */
function wordsOfUse(use: ToolUse): string[] {
  return [use.name, ...Object.keys(argumentsOf(use))].flatMap(wordsOfTool)
}

/** Returns what a call was about: the argument that names the thing, otherwise all of them. */
function identityOf(use: ToolUse, stem: string): string {
  const own = Object.entries(argumentsOf(use)).find(([key]) =>
    wordsOfTool(key).some((word) => toStem(word) === stem),
  )
  return own === undefined ? (use.sig ?? `${use.index}`) : JSON.stringify(own[1])
}

/** Tells whether one call was about several things: a list, or a count. */
function hasSeveral(use: ToolUse): boolean {
  return Object.values(argumentsOf(use)).some(
    (value) =>
      Array.isArray(value) ||
      (typeof value === 'object' && value !== null) ||
      (typeof value === 'number' && value > 1) ||
      (typeof value === 'string' && listOfWords.test(value.slice(0, list_chars_max))),
  )
}

const list_chars_max = 500
/** Short words between commas: `1,2,3`. */
const listOfWords = /^\s*[\w@.#-]+\s*[,;\n]\s*[\w@.#-]+/

function toStem(word: string): string {
  return word.replace(/(?:ies|s)$/, '').slice(0, 8)
}

const quote_chars_max = 120

function quoteOf({ text }: Step, { sentence }: DoneClaim): string {
  return cutText(asWritten(text ?? '', sentence), quote_chars_max)
}

type Unmet = Pick<FindingDraft, 'summary' | 'confidence'> & {
  claim: DoneClaim
  tool: string
  uses: readonly ToolUse[]
  severity?: Severity
}

function toFinding(
  run: TaskRun,
  step: Step,
  { claim, tool, uses, severity = 'medium', ...unmet }: Unmet,
): FindingDraft {
  const [place] = placesOfSteps(run, [step.index])
  return toFailureDraft({
    type: 'claimed_not_called',
    severity,
    recovered: isCalledLater(run, step, claim),
    began: place ?? { trace_id: '', observation_id: `${step.index}` },
    ...unmet,
    start_step: step.index,
    end_step: step.index,
    places: [...(place === undefined ? [] : [place]), ...placesOfUses(uses)],
    waste: noWaste,
    evidence: {
      claim: cutText(asWritten(step.text ?? '', claim.sentence)),
      tool,
      calls: uses.length,
    },
  })
}

/** Tells whether the agent took the action after it had claimed it. */
function isCalledLater(run: TaskRun, step: Step, { verb }: DoneClaim): boolean {
  return run.tools.some(
    (use) =>
      (use.step ?? -1) > step.index && use.fault === null && wordsOfTool(use.name).includes(verb),
  )
}
