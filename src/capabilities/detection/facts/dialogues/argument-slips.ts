import { mentions, readToldSlots, sentencesOf } from '../../../provenance/text/index.ts'
import type { WorkBudget } from '../../contract.ts'
import type { Message, Step, TaskRun, ToolUse } from '../../reconstruction/index.ts'
import { remember, rememberFor } from '../remember.ts'
import { readValue, readValues } from '../statements/values.ts'
import { effectOfTool } from '../tools/tool-effect.ts'
import { argumentsOf } from '../tools/tool-words.ts'
import { type Answer, contextOf, type Dialogue } from './dialogues.ts'

/** An argument of a call that differs from what the user had said. */
export type Slip = {
  use: ToolUse
  key: string
  value: string
  said: Message
  quote: string
  /** Tells whether a text has what the user had said. */
  isIn: (text: string) => boolean
}

/** An argument, the user's messages before its call, and all other texts before it. */
type Argument = { key: string; value: string; said: readonly Message[]; other: readonly string[] }

const slipsByStep = rememberFor<Step, Slip[]>()

/**
 * Finds arguments of an answer's calls that the user had rejected or replaced, or that differ from the
 * only value of their kind that the user gave, where no other text has them.
 */
export function findSlips(
  run: TaskRun,
  dialogue: Dialogue,
  { step, at }: Answer,
  budget: WorkBudget,
): Slip[] {
  return slipsByStep(step, contextOf(run, dialogue, { step, at }), () => {
    budget.spend(at + run.tools.length)
    return readSlips(run, step, dialogue.messages.slice(0, at))
  })
}

function readSlips(run: TaskRun, step: Step, before: readonly Message[]): Slip[] {
  const said = before.filter(({ role, is_harness }) => role === 'user' && is_harness !== true)
  if (said.length === 0) return []
  const texts = before.filter(({ role }) => role !== 'user').map(({ text }) => text)
  const results = run.tools.flatMap((use) =>
    use.step !== null && use.step < step.index ? [`${use.result}`] : [],
  )
  const other = [...texts, ...results]
  return step.tools.flatMap((index) => {
    const use = run.tools[index]
    if (use === undefined || use.fault !== null) return []
    return Object.entries(argumentsOf(use)).flatMap(([key, given]) => {
      if (typeof given !== 'string' && typeof given !== 'number') return []
      const argument = { key, value: String(given), said, other }
      if (argument.value.length > value_chars_max) return []
      const slip =
        findRejected(argument) ??
        (effectOfTool(use) === 'changes' ? findDifferent(argument) : undefined)
      return slip === undefined ? [] : [{ use, key, value: argument.value, ...slip }]
    })
  })
}

const value_chars_max = 80
type Said = Pick<Slip, 'said' | 'quote' | 'isIn'>

/** “Gatwick, not Heathrow”; “sorry, it's the 19th”. */
function findRejected({ value, said }: Argument): Said | undefined {
  const day = Number(/^\d{4}-\d{2}-(\d{2})$/.exec(value)?.[1] ?? 0)
  const isName = /\p{L}{3}/u.test(value)
  for (const [at, message] of said.entries()) {
    const wrong = statementsIn(message).find(
      ({ rejected, newDay }) =>
        (isName && rejected?.startsWith(value.toLowerCase()) === true) ||
        (day !== 0 &&
          newDay !== undefined &&
          newDay !== day &&
          said.slice(0, at).some((before) => daysIn(before).includes(day))),
    )
    if (wrong === undefined) continue
    const isSaidAgain = said
      .slice(at + 1)
      .some((later) => mentions(later.text, value) || daysIn(later).includes(day))
    const { quote, newDay } = wrong
    const isIn = (text: string) => newDay !== undefined && daysOf(text).includes(newDay)
    if (!isSaidAgain) return { said: message, quote, isIn }
  }
  return undefined
}

/** A sentence of the user: the words from what it rejects on, and the day that it puts in place of another. */
type SaidSentence = { quote: string; rejected: string | undefined; newDay: number | undefined }

/** Returns the sentences of a message that reject or replace something. */
const statementsIn = remember(({ text }: Message): SaidSentence[] =>
  sentencesOf(text).flatMap((quote) => {
    if (quote.endsWith('?')) return []
    const rejected = readRejected(quote)
    const newDay = readNewDay(quote)
    return rejected === undefined && newDay === undefined ? [] : [{ quote, rejected, newDay }]
  }),
)

function readRejected(quote: string): string | undefined {
  if (/\b(?:or|if|only)\b/i.test(quote)) return undefined
  const [, rest] =
    /\b(?:not|no longer|instead of|rather than|nicht(?: mehr)?|statt|et pas|y no)\b (?:the |via |from |to |at |in |von |nach )?(.{1,80})/i.exec(
      quote,
    ) ?? []
  return rest?.toLowerCase()
}

const correcting =
  /\b(?:sorry|oops|meant|i mean|wrong|actually|instead|correction|mistake|pardon|not the|doch|versehen|falsch|en fait|pardon|perdón|en realidad)\b/i

/** Returns the only day of a sentence that corrects. */
function readNewDay(quote: string): number | undefined {
  if (!correcting.test(quote)) return undefined
  const told = daysOf(quote.replace(/\bnot (?:on )?the \d{1,2}\w*/gi, ' '))
  return told.length === 1 ? told[0] : undefined
}

const daysIn = remember(({ text }: Message) => daysOf(text))

function daysOf(text: string): number[] {
  const named = [...text.matchAll(/\b(\d{1,2})(?:st|nd|rd|th|\.(?= \p{Lu}))/gu)].map(([, day]) =>
    Number(day),
  )
  return [...named, ...readValues(text, 'date').map((date) => Number(date.slice(3, 5)))]
}

/** A kind of arguments: how one is recognised, what the user can have said, and words that explain another value. */
type ArgumentKind = {
  shape: RegExp
  key?: RegExp
  find: (text: string) => string[]
  plain: (value: string) => string
  unless: RegExp
}

const argumentKinds: readonly ArgumentKind[] = [
  {
    shape: /^\d{4}-\d{2}-\d{2}$/,
    find: (text) => readValues(text, 'date').map((date) => date.slice(0, 5)),
    plain: (value) => value.slice(5),
    unless:
      /\b(?:today|tomorrow|tonight|next|days?|weeks?|fortnight|nights?|months?|years?|later|earlier|before|after|until|ago|weekend|or|tage?n?|wochen?|nächte?|monate?n?|nach|vor|jours?|semaines?|nuits?|días?|semanas?|noches?)\b/i,
  },
  {
    shape: /^\d{1,2}:\d{2}$/,
    find: (text) => readValues(text, 'time'),
    plain: (value) => readValue(value)?.normal ?? value,
    unless:
      /\b(?:around|about|between|after|before|later|earlier|half|quarter|or|morning|evening|afternoon|noon|to|until|from|utc|[ce]e?st|hours?|minutes?)\b/i,
  },
  {
    shape: /^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/,
    find: (text) => text.match(/[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,32}){1,4}/g) ?? [],
    plain: (value) => value.toLowerCase(),
    unless: /$^/,
  },
  {
    shape: /^\+?\d[\d ()/-]{6,18}\d$/,
    key: /phone|mobile|tel|number/i,
    find: (text) =>
      readToldSlots(sentencesOf(text))
        .flatMap(({ key, value }) => (key === 'phone' ? [value] : []))
        .concat(/(?<![\d-])\+?0[\d ()/-]{6,16}\d/.exec(text) ?? []),
    plain: (value) => value.replace(/\D/g, '').slice(-7),
    unless: /$^/,
  },
  {
    shape: /^\d{1,6}(?:\.\d{1,2})?$/,
    key: /^(?:people|persons?|guests|party(?:_size)?|pax|qty|quantity|tickets|seats|adults|nights|amount|personen|anzahl)$/i,
    find: (text) => readValues(text.replace(/#?\w*\d{4}-?\w+|\d{1,2}(?=[a-z])/gi, ' '), 'number'),
    plain: String,
    unless:
      /\b(?:plus|more|less|fewer|each|per|half|double|twice|another|extra|without|all|both|my|remaining|rest|total|everything|children|kids|us|also|minus)\b/i,
  },
]

/** Each kind reads a message once. */
const kinds = argumentKinds.map((kind) => ({
  ...kind,
  read: remember(({ text }: Message) => kind.find(text).map((found) => toPlain(kind, found))),
  isExplained: remember(({ text }: Message) => kind.unless.test(text)),
}))

function toPlain({ shape, plain }: ArgumentKind, text: string): string {
  return shape.test(text) ? plain(text) : text
}

/** Finds an argument of a kind of which the user gave one value, another one. */
function findDifferent({ key, value, said, other }: Argument): Said | undefined {
  const kind = kinds.find((one) => one.shape.test(value) && (one.key?.test(key) ?? true))
  if (kind === undefined) return findOtherNumber({ key, value, said, other })
  const told = said.flatMap((message) =>
    kind.read(message).map((text) => ({ message, value: text })),
  )
  const plain = kind.plain(value)
  const [first] = told
  const isOne = new Set(told.map((one) => one.value)).size === 1
  const isAlone = kind.shape.test('2000-01-01') || isOne
  if (first === undefined || !isAlone || told.some((one) => one.value === plain)) return undefined
  if (said.some(kind.isExplained) || other.some((text) => mentions(text, value))) return undefined
  if (key === 'amount' && !isNear(value, first.value)) return undefined
  if (isDayNamed(value, [...said.map(({ text }) => text), ...other])) return undefined
  const isIn = (text: string) => kind.find(text).some((one) => toPlain(kind, one) === first.value)
  return { said: first.message, quote: first.message.text, isIn }
}

/** Tells whether two numbers have the same digits, or differ by one. */
function isNear(one: string, other: string): boolean {
  const sorted = (text: string) => [...text].toSorted().join('')
  const differing = [...one].filter((digit, at) => digit !== other[at]).length
  return one.length === other.length && (sorted(one) === sorted(other) || differing === 1)
}

const months = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')

/** Tells whether one text has the day and the month of a date: “12 to 15 June”, “from 5.6.”. */
function isDayNamed(value: string, texts: readonly string[]): boolean {
  const [, month = '', day = ''] = /^\d{4}-(\d{2})-(\d{2})$/.exec(value) ?? []
  if (day === '') return false
  const name = new RegExp(
    `(?<!\\p{L})${months[Number(month) - 1]}|(?<!\\d)0?${Number(month)}[./]|[./]0?${Number(month)}(?!\\d)`,
    'iu',
  )
  const number = new RegExp(`(?<!\\d)0?${Number(day)}(?!\\d)`)
  return texts.some((text) => number.test(text)) && texts.some((text) => name.test(text))
}

/** “Elm Road 21” for “Elm Road 12”. */
function findOtherNumber({ value, said, other }: Argument): Said | undefined {
  const [, words = '', number = ''] = /^(\p{L}[\p{L} .]{2,40}) (\d{1,5})$/u.exec(value) ?? []
  if (
    words === '' ||
    [...said.map(({ text }) => text), ...other].some((text) => mentions(text, number))
  )
    return undefined
  const isIn = (text: string) => {
    const at = text.toLowerCase().indexOf(words.toLowerCase())
    return at >= 0 && /^ \d{1,5}(?!\d)/.test(text.slice(at + words.length))
  }
  const message = said.find(({ text }) => isIn(text))
  return message === undefined ? undefined : { said: message, quote: message.text, isIn }
}
