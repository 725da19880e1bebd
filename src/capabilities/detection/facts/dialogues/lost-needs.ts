import {
  mentions,
  type Option,
  readOptions,
  readWords,
  sentencesOf,
  toTokenSet,
  verbsLike,
} from '../../../provenance/text/index.ts'
import type { FindingDraft, Severity, WorkBudget } from '../../contract.ts'
import type { Message, Step, TaskRun, ToolUse } from '../../reconstruction/index.ts'
import { toContextDraft } from '../drafts.ts'
import { placeOf, placesOfUses } from '../finding-parts.ts'
import { remember, rememberFor } from '../remember.ts'
import { effectOfTool } from '../tools/tool-effect.ts'
import { argumentsOf, wordsOfTool } from '../tools/tool-words.ts'
import { contextOf, readDialogues } from './dialogues.ts'
import { findWitness } from './witness.ts'

/** A call against what the user had asked for. */
type LostNeed = {
  said: Message
  quote: string
  violation: string
  severity: Severity
  /** Tells whether a text forbids the same: then it is a witness of medium severity. */
  isIn?: (text: string) => boolean
}

/** A call of a dialogue, and what was said before it. */
type CallInDialogue = { run: TaskRun; use: ToolUse; before: readonly Message[] }

/**
 * Finds calls that take, of the things in a list, one that the user had ruled out while the list has
 * another; and calls that the user had forbidden.
 */
export function findLostNeeds(run: TaskRun, budget: WorkBudget): FindingDraft[] {
  return readDialogues(run).dialogues.flatMap((dialogue) => {
    const placeOfStep = new Map<number | null, number>()
    for (const [at, { step }] of dialogue.messages.entries()) {
      if (!placeOfStep.has(step)) placeOfStep.set(step, at)
    }
    return run.tools.flatMap((use) => {
      const step = run.steps[use.step ?? -1]
      if (step === undefined || use.thread !== dialogue.thread.index || !isChoice(use)) return []
      const at = placeOfStep.get(step.index) ?? 0
      const lost = lostByUse(use, contextOf(run, dialogue, { step, at }), () => {
        budget.spend(at * 4)
        const call = { run, use, before: dialogue.messages.slice(0, at) }
        return findForbidden(call) ?? findWrongOption(call)
      })
      if (lost === undefined) return []
      const { quote, isIn } = lost
      const said = isIn && { quote, isIn }
      const witness =
        said && findWitness(run, { dialogue, answer: { step, at }, found: lost, said }, budget)
      return [
        toDraft(run, use, step, witness === undefined ? lost : { ...lost, severity: 'medium' }),
      ]
    })
  })
}

const lostByUse = rememberFor<ToolUse, LostNeed | undefined>()

const isChoice = remember(
  (use: ToolUse): boolean =>
    use.fault === null && (effectOfTool(use) === 'changes' || choosing.test(use.name)),
)

/** Names of calls that choose, without a known verb: “besichtigung”, “appointment”. */
const choosing = /^(?:appointment|callback|hold|besichtigung|termin|buch\w*|reserv\w*|reserva\w*)$/i

function findForbidden({ use, before }: CallInDialogue): LostNeed | undefined {
  const words = wordsOfTool(use.name)
  for (const [at, said] of before.entries()) {
    if (said.role !== 'user') continue
    for (const { quote, word } of readForbidden(said)) {
      const tool = words.find((one) => isNamedBy(one, word))
      const later = before.slice(at + 1)
      const isLifted = later.some(
        ({ role, text }) =>
          role === 'user' && [...toTokenSet(text)].some((one) => isNamedBy(tool ?? '', one)),
      )
      const isOffered = later.some(
        ({ role, text }) =>
          role === 'assistant' &&
          /\?/.test(text) &&
          [...toTokenSet(text)].some((one) => isNamedBy(tool ?? '', one)),
      )
      if (tool === undefined || isLifted || isOffered) continue
      const violation = `The agent called "${use.name}".`
      const isIn = (text: string) => forbiddenIn(text).some((one) => one.word === word)
      return { said, quote, violation, severity: 'low', isIn }
    }
  }
  return undefined
}

function isNamedBy(tool: string, word: string): boolean {
  if (word.length < 3 || tool === '') return false
  const isBeginning = word.length >= 4 && tool.startsWith(word)
  return (
    isBeginning ||
    (verbsLike(word).has(tool) && word !== 'put') ||
    contacts.some((group) => group.includes(word) && group.includes(tool))
  )
}

const contacts = ['call phone ring callback', 'text sms', 'mail email'].map((group) =>
  group.split(' '),
)

/** Returns the verbs of actions that a message forbids: “don't cancel it”, “no text messages please”. */
const readForbidden = remember(({ text }: Message) => forbiddenIn(text))

function forbiddenIn(text: string): { quote: string; word: string }[] {
  return sentencesOf(text).flatMap((quote) => {
    if (/\?$|\b(?:if|unless|until|before|after|when|twice|again|wenn|bevor)\b/i.test(quote))
      return []
    const match = forbidding.exec(quote.replaceAll('’', "'"))
    const word = (match?.groups?.['verb'] ?? match?.groups?.['noun'])?.toLowerCase()
    return word === undefined ? [] : [{ quote, word }]
  })
}

const forbidding =
  /(?:^|[,.;:!–-] ?|\b(?:please|but|and|so) )(?:(?:please )?(?:do not|don't|never) (?:ever )?(?<verb>\p{L}{3,})|(?:please )?no (?<noun>\p{L}{3,}?)s?\b[^,.;]{0,20}(?=,? please|!|$))/iu

const optionsOf = remember(({ result }: ToolUse) => readOptions(result ?? ''))

/** Returns the option that a call chose by an argument, if the argument names only this one. */
function findChosen(use: ToolUse, options: readonly Option[]): Option | undefined {
  for (const value of Object.values(argumentsOf(use))) {
    if (typeof value !== 'string' && typeof value !== 'number') continue
    const named = options.filter(({ text }) => mentions(text, String(value)))
    if (named.length === 1 && String(value).length >= 2) return named[0]
  }
  return undefined
}

/** Finds a chosen option that lacks what the user needs, or has what they exclude, where another does not. */
function findWrongOption(call: CallInDialogue): LostNeed | undefined {
  const { run, use, before } = call
  const lists = run.tools.filter(
    ({ step, thread }) => thread === use.thread && step !== null && step < (use.step ?? 0),
  )
  const list = lists.findLast((one) => findChosen(use, optionsOf(one)) !== undefined)
  if (list === undefined) return undefined
  const options = optionsOf(list)
  const chosen = findChosen(use, options)
  if (chosen === undefined || isAgreed(call, list, { chosen, options })) return undefined
  const others = options.filter((option) => option !== chosen)
  for (const said of before.filter(
    ({ role, is_harness }) => role === 'user' && is_harness !== true,
  )) {
    for (const sentence of sentencesOf(said.text)) {
      const quote = sentence.replaceAll('’', "'")
      const wrong = isHedged.test(quote) ? undefined : findClash(quote, chosen, others)
      if (wrong === undefined) continue
      return {
        said,
        quote,
        violation: `The agent took "${chosen.text.trim().slice(0, 120)}", ${wrong}.`,
        severity: strict.test(quote) ? 'medium' : 'low',
      }
    }
  }
  return undefined
}

const isHedged =
  /\?$|\b(?:if|or|nice|ideally|prefer\w*|rather|possible|no need|need no|don't (?:need|mind|care)|not? necessarily|isn't|wasn't|last|about|around|was|were|friend|oder|vielleicht|am liebsten|de préférence)\b/i
const strict =
  /\b(?:must\w*|only|never|allerg\w+|can.t|cannot|need\w*|has to|have to|absolutely|not more|no more|at most|maximum|don.t|without|insist|require\w*|muss|nur|kann|höchstens|kein\w*|ohne|seulement|sans|il faut|solo|sin|debe)\b/i

function findClash(quote: string, chosen: Option, others: readonly Option[]): string | undefined {
  const limit = readLimit(quote) ?? Number.POSITIVE_INFINITY
  if ((chosen.price ?? 0) > limit && others.some(({ price }) => (price ?? limit + 1) <= limit)) {
    return `which costs ${chosen.price}`
  }
  const { told, denied } = readWords(quote)
  const had = [...denied].find(
    (word) => chosen.words.has(word) && others.some(({ words }) => !words.has(word)),
  )
  if (had !== undefined) return `which has "${had}"`
  const free = [...denied].find(
    (word) => !chosen.denied.has(word) && others.some((other) => other.denied.has(word)),
  )
  if (free !== undefined) return `and another one is without "${free}"`
  if (!strict.test(quote) && !wishing.test(quote)) return undefined
  const missing = [...told].find(
    (word) =>
      !common.has(word) &&
      !chosen.words.has(word) &&
      others.some((other) => other.words.has(word) && !other.denied.has(word)),
  )
  return missing === undefined ? undefined : `and another one has "${missing}"`
}

const wishing = /\b(?:please|pls|i'm|i am|i want|we want|it's for|bitte|s'il vous|por favor)\b/i
const common = new Set(
  'the and for you with from one two any all per day days time book room name that this have has not are price total type'.split(
    ' ',
  ),
)

/** Reads the highest price: “at most 120”, “under 20”, “mustn't spend more than 900”. */
function readLimit(quote: string): number | undefined {
  const match =
    /(?:\b(?:at most|no more than|not? more than|under|below|up to|max(?:imum)?(?: of)?|less than|höchstens|maximal|unter|bis zu|au plus|moins de|como máximo|menos de)|n't (?:\w+ ){0,2}more than)\s*[$€£]?\s*(\d{1,3}(?:[,.]\d{3})+|\d{2,6})/i.exec(
      quote,
    )
  return match === null ? undefined : Number(match[1]?.replace(/[,.](?=\d{3})/g, ''))
}

/** Tells whether the user named the chosen option, or agreed to it as the agent described it. */
function isAgreed(
  { before, run }: CallInDialogue,
  list: ToolUse,
  { chosen, options }: { chosen: Option; options: readonly Option[] },
): boolean {
  const shared = options
    .filter((option) => option !== chosen)
    .flatMap(({ text }) => [...toTokenSet(text)])
  const own = [...toTokenSet(chosen.text)].filter(
    (token) => !shared.includes(token) && token.length >= 2,
  )
  const since = before.slice(before.findLastIndex(({ step }) => step === list.step) + 1)
  const names = (text: string, tokens: readonly string[]) => {
    const said = toTokenSet(text)
    return tokens.some((token) => said.has(token))
  }
  const isNamed = since.some(
    ({ role, text }) => role === 'user' && (names(text, own) || loosening.test(text)),
  )
  const isShown = since.some(
    ({ role, text }) =>
      role === 'assistant' &&
      names(
        text,
        own.filter((token) => /^\p{L}{4,}$/u.test(token)),
      ),
  )
  const isConsent = /^\W*(?:yes|yep|ok|okay|sure|great|fine|good|go|ja|oui|sí|si)\b/i.test(
    since.findLast(({ role }) => role === 'user')?.text ?? '',
  )
  return isNamed || (isShown && isConsent) || run.steps.length === 0
}

const loosening =
  /\b(?:pay more|doesn't matter|never mind|after all|anyway|even so|whatever it costs|egal)\b/i

function toDraft(run: TaskRun, use: ToolUse, step: Step, lost: LostNeed): FindingDraft {
  const { said, quote, violation, severity } = lost
  const call = run.calls[said.call]
  const [place = placeOf(run.calls[step.call] ?? { trace_id: '', observation_id: '' })] =
    placesOfUses([use])
  return toContextDraft(run, {
    type: 'lost_context',
    severity,
    topic: `need:${use.index}`,
    violation,
    confidence: 0.75,
    summary: `${violation} The user had said: ${quote}`,
    original_context: quote,
    original: call === undefined ? place : placeOf(call),
    steps: [step.index],
    begins_at: placeOf(run.calls[step.call] ?? place),
    is_waste: true,
    recovered: false,
    evidence: { rule: 'need', said_by: 'user', tool: use.name },
  })
}
