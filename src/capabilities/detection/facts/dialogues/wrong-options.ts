import {
  mentions,
  type Option,
  readOptions,
  readWords,
  sentencesOf,
  toTokenSet,
} from '../../../provenance/text/index.ts'
import type { ToolUse } from '../../reconstruction/index.ts'
import { remember } from '../remember.ts'
import { argumentsOf } from '../tools/tool-words.ts'
import { type CallInDialogue, isHedged, isStrict, isWish, type LostNeed } from './needs.ts'

const optionsOf = remember(({ result }: ToolUse) => readOptions(result ?? ''))

/** Returns the option that a call chose by an argument, if the argument names only this one. */
function findChosen(use: ToolUse, options: readonly Option[]): Option | undefined {
  for (const [key, value] of Object.entries(argumentsOf(use))) {
    if (typeof value !== 'string' && typeof value !== 'number') continue
    const short = `${key}: ${value}`
    const wanted = String(value).length < 2 ? short : String(value)
    const named = options.filter(({ text }) => mentions(text, wanted))
    if (named.length === 1) return named[0]
  }
  return undefined
}

/** Finds a chosen option that lacks what the user needs, or has what they exclude, where another does not. */
export function findWrongOption(call: CallInDialogue): LostNeed | undefined {
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
      const wrong = findClash(quote, chosen, others)
      if (wrong === undefined || isSpokenOfSince(call, list, quote)) continue
      return {
        said,
        quote,
        violation: `The agent took "${chosen.text.trim().slice(0, 120)}", ${wrong.why}.`,
        severity: wrong.isExcluded && isStrict(quote) ? 'medium' : 'low',
      }
    }
  }
  return undefined
}

/**
 * Why an option is not what was said: it has what the user excludes or says no to what they want, or it only lacks
 * a word of their wish.
 */
type Clash = { why: string; isExcluded: boolean }

function findClash(quote: string, chosen: Option, others: readonly Option[]): Clash | undefined {
  if (isHedged(quote)) return undefined
  const limit = readLimit(quote) ?? Number.POSITIVE_INFINITY
  if ((chosen.price ?? 0) > limit && others.some(({ price }) => (price ?? limit + 1) <= limit)) {
    return { why: `which costs ${chosen.price}`, isExcluded: true }
  }
  const { told, denied } = readWords(quote)
  const had = [...denied].find(
    (word) => chosen.words.has(word) && others.some(({ words }) => !words.has(word)),
  )
  if (had !== undefined) return { why: `which has "${had}"`, isExcluded: true }
  const free = [...denied].find(
    (word) => !chosen.denied.has(word) && others.some((other) => other.denied.has(word)),
  )
  if (free !== undefined) return { why: `and another one is without "${free}"`, isExcluded: true }
  if (!isWish(quote)) return undefined
  const missing = [...told].find(
    (word) =>
      !common.has(word) &&
      (!partsOfDay.has(word) || isWantedTime(quote, word)) &&
      !chosen.words.has(word) &&
      others.some((other) => other.words.has(word) && !other.denied.has(word)),
  )
  return missing === undefined
    ? undefined
    : { why: `and another one has "${missing}"`, isExcluded: chosen.denied.has(missing) }
}

const partsOfDay = new Set(['morning', 'afternoon', 'evening'])

/** Tells whether a part of the day is in the clause that wants something: “good morning” and “I work mornings” are not. */
function isWantedTime(quote: string, part: string): boolean {
  return quote
    .split(/[,;:–]| and | but /)
    .some((clause) => readWords(clause).told.has(part) && isWish(clause))
}

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
  const reply = since.findLast(({ role }) => role === 'user')?.text ?? '?'
  return isNamed || (isShown && !/[?？]/.test(reply)) || run.steps.length === 0
}

/** Tells whether the user, since the list, has spoken of what they had asked for: it may have changed. */
function isSpokenOfSince({ before }: CallInDialogue, list: ToolUse, quote: string): boolean {
  const needs = [...toTokenSet(quote)].filter((word) => word.length > 3 && !common.has(word))
  const since = before.slice(before.findLastIndex(({ step }) => step === list.step) + 1)
  return since.some(
    ({ role, text }) => role === 'user' && needs.some((word) => toTokenSet(text).has(word)),
  )
}

const loosening =
  /\b(?:pay more|the cheap(?:er|est)?|doesn't matter|never mind|after all|anyway|even so|whatever it costs|egal)\b/i
