import { compact } from '../text/fold.ts'
import { readDates } from '../values/read-dates.ts'
import type { Value } from '../values/value.ts'
import type { NearCalculations } from './near-calculations.ts'
import type { Context } from './operands.ts'
import type { Seen } from './seen.ts'
import { figuresOf, shapeOf } from './seen-traits.ts'
import { isSwapped } from './swapped-digits.ts'

/** Why a value that was not found may still be right. */
export type Doubt =
  /** A part of what the agent saw is missing. */
  | 'incomplete'
  /** A call of the agent names it. */
  | 'own_call'
  /** It has too few digits, or is of a kind that answers work out: times, shares, durations. */
  | 'coarse'
  /** Several operations over seen values may give it. */
  | 'calculable'
  /** The answer offers it as an example, an estimate, advice or an assumption. */
  | 'hypothetical'
  /** It may be common knowledge: a public address, a standard, a year. */
  | 'general'

/** Returns why a value that was not found may be right; undefined if it must be unsupported. */
export function findDoubt(
  value: Value,
  context: Context,
  near: NearCalculations,
): Doubt | undefined {
  const { index, text } = context
  if (!index.isComplete) return 'incomplete'
  if (value.kind === 'quote') return doubtQuote(value, context)
  if (value.second !== undefined) return doubtTime(value.second, context)
  if (value.days !== undefined) return doubtDate(value, context)
  if (value.amount !== undefined) return doubtNumber(value, context, near)
  const letters = compact(value.text)
  if (index.ownTexts.some((one) => one.findCompact(letters) !== undefined)) return 'own_call'
  if (hypothetical.test(sentenceBefore(text, value))) return 'hypothetical'
  return doubtCode(value, context, letters)
}

/** Characters before a value that are read for what the sentence does with it. */
const before_chars = 120

function sentenceBefore(text: string, { at: [start] }: Value): string {
  const before = text.slice(Math.max(0, start - before_chars), start)
  return before.slice(before.search(/[^.!?\n]*(?:[.!?]\S[^.!?\n]*)*$/))
}

const hypothetical =
  /(?<!\p{L})(?:e\.g\.|for example|for instance|such as|like|say|assum\w*|suppos\w*|imagine|recommend\w*|suggest\w*|typical\w*|usual\w*|generally|often|normally|estimat\w*|z\.\s?B\.|zum Beispiel|beispielsweise|etwa|üblich\w*|meist\w*|in der Regel|angenommen|empfehle\w*|par exemple|en général|environ|supposons|por ejemplo|normalmente|supongamos)(?!\p{L})/iu
const conditional =
  /(?<!\p{L})(?:if|would|could|might|should|up to|within|around|about|roughly|wenn|falls|würde\w*|könnte\w*|sollte\w*|bis zu|innerhalb|rund|si|serait|pourrait|jusqu'à|podría|hasta|unos)(?!\p{L})/iu

const saying =
  /(?<!\p{L})(?:sa(?:ys|id|ying)|stat(?:es|ed|ing)|reads|according to|wrote|writes|add(?:s|ed)|held|holds|quot\w+|put it|declared|announced|explained|sagt\w*|schr(?:eibt|ieb)|heißt es|lautet|laut|steht|erklärt\w*|dit|déclar\w+|selon|écrit|dice|dijo|según|afirm\w+)(?!\p{L})[^.!?\n]{0,40}$/iu

/** Quotation marks also hold names, labels and translations: words must be put in a mouth. */
function doubtQuote({ at, text: quote }: Value, { text, index }: Context): Doubt | undefined {
  if (!saying.test(text.slice(Math.max(0, at[0] - 70), at[0]))) return 'general'
  const words = quote.toLowerCase().match(/\p{L}{4,}/gu) ?? []
  const isOfSources = words.some((word) =>
    index.texts.some((one) => one.findCompact(word) !== undefined),
  )
  return isOfSources ? undefined : 'general'
}

/** A time to the minute is no guess; but other times, durations and zones give any. */
function doubtTime(second: number, { index }: Context): Doubt | undefined {
  const isRound = second % 1800 === 0
  const hasOthers = index.times.length > 0 || index.durations.length > 0 || index.traits.hasEpoch
  return isRound || hasOthers ? 'coarse' : undefined
}

const monthDay = (value: Value) =>
  (value.days ?? []).flatMap(({ month, day }) => (day === undefined ? [] : [{ month, day }]))

/** Days from a seen date that an answer may count: working days, weekends, deadlines. */
const near_days = 8

function doubtDate(value: Value, { index, supported, text }: Context): Doubt | undefined {
  const wanted = monthDay(value)
  if (asOf.test(text.slice(Math.max(0, value.at[0] - 24), value.at[0]))) return 'general'
  if (wanted.some(({ month, day }) => holidays.has(`${month}-${day}`))) return 'general'
  if (index.ownTexts.some((own) => isNamed(wanted, own.text))) return 'own_call'
  if (wanted.length === 0) return 'coarse'
  const seen = [...index.values, ...supported]
    .filter((one) => one.value.days !== undefined)
    .flatMap((one) => monthDay(one.value))
  // Times of Unix and weeks of the year give any day.
  if (index.traits.hasEpoch) return 'calculable'
  const isCounted = index.durations.some(isDuration) || duration.test(around(text, value))
  if (isCounted && seen.length > 0) return 'calculable'
  const isNear = seen.some(({ month, day }) =>
    wanted.some((one) => {
      const gap = Math.abs((one.month - month) * 30.4 + one.day - day)
      return Math.min(gap, 365 - gap) <= near_days || one.day === day
    }),
  )
  return isNear ? 'calculable' : undefined
}

function isNamed(wanted: ReturnType<typeof monthDay>, text: string): boolean {
  const named = readDates(text).flatMap(monthDay)
  return named.some(({ month, day }) =>
    wanted.some((one) => one.month === month && one.day === day),
  )
}

function isDuration({ value: { amount } }: Seen): boolean {
  return amount?.unit === 'duration'
}

const asOf = /(?:\bas of|\btoday|\bStand:?|\bheute|\bau|\bà partir du|\bal)\W{0,4}(?:\p{L}+, )?$/iu
/** Days that everyone knows. */
const holidays = new Set(
  '1-1 1-6 2-14 5-1 7-4 7-14 8-15 10-3 10-31 11-1 11-11 12-6 12-24 12-25 12-26 12-31'.split(' '),
)
const duration =
  /(?<!\p{L})(?:days?|weeks?|months?|years?|tagen?|wochen?|monaten?|jahren?|jours?|semaines?|mois|ans|días?|semanas?|meses|años?)(?!\p{L})/iu

function around(text: string, { at: [start, end] }: Value): string {
  return text.slice(Math.max(0, start - before_chars), end + before_chars)
}

/** Minimum digits of a number that is no coincidence. */
const figures_min = { number: 5, money: 3, quantity: 4 } as const

function doubtNumber(
  value: Value,
  { text, index }: Context,
  near: NearCalculations,
): Doubt | undefined {
  if (isSwapped(value, index, near)) return undefined
  if (isOtherCurrency(value, index)) return undefined
  const { kind } = value
  if (kind !== 'number' && kind !== 'money' && kind !== 'quantity') return 'coarse'
  const figures = countFigures(value.text)
  if (figures < figures_min[kind] || value.isAbout === true || value.bound !== undefined)
    return 'coarse'
  const sentence = sentenceBefore(text, value)
  if (hypothetical.test(sentence)) return 'hypothetical'
  if (/(?:\bport\W{0,2}|[\w\]]:)$/i.test(sentence)) return 'general'
  if (kind === 'number' && isPart(value.text, index)) return 'calculable'
  if (figures < 4 && conditional.test(sentence)) return 'hypothetical'
  return near.explains(value) ? 'calculable' : undefined
}

/** Tells whether an amount was seen, in one currency only, and the answer has another. */
function isOtherCurrency(value: Value, { currencies, traits, texts }: Context['index']): boolean {
  const { kind, amount } = value
  const digits = figuresOf(value)
  if (kind !== 'money' || amount === undefined || digits.length < figures_min.money) return false
  if (currencies.size === 0 || currencies.has(amount.unit)) return false
  // Other dollars, crowns and pounds have the same sign.
  if (!onlyOne.test(value.text) && texts.some(({ text }) => otherCurrency.test(text))) return false
  return ['', ...currencies].some((unit) => traits.figures.has(`${unit} ${digits}`))
}

const onlyOne = /[€₹]|EUR|USD|CHF|euro/i
const otherCurrency =
  /\b(?:CAD|AUD|NZD|SGD|HKD|MXN|TWD|ARS|CLP|COP|BRL|EGP|TRY|CNY|SEK|NOK|DKK|CZK|ISK|NVK)\b/

/** Tells whether a longer figure begins or ends with these digits: "ending in 50309". */
function isPart(text: string, { texts }: Context['index']): boolean {
  const digits = text.replace(/\D/g, '')
  const pattern = new RegExp(`(?<!\\d)${digits}\\d{3}|\\d{3}${digits}(?!\\d)`)
  return digits === text && texts.some((one) => pattern.test(one.text))
}

/** Counts the digits that a number states: zeros at its ends are places. */
function countFigures(text: string): number {
  const digits = text.replace(/\D/g, '').replace(/^0+/, '')
  return /[.,]\d{1,2}(?!\d)/.test(text) ? digits.length : digits.replace(/0+$/, '').length
}

const localHost =
  /^(?:https?:\/\/)?(?:localhost|127\.|0\.0\.0\.0|10\.|192\.168\.|169\.254\.|::1|[\w.-]*\bexample\.(?:com|org|net|edu)|[\w.@-]*\byour|[^/]*[<{]|[\w.-]+\.(?:local|invalid))/i
/** Addresses that name nothing of their own: loopback, masks, networks of everyone. */
const plainAddress = /^(?:0|10|127|169\.254|172\.(?:1[6-9]|2\d|3[01])|192\.168|255|8\.8|1\.1)\./

function doubtCode(
  { kind, text, normal, at }: Value,
  context: Context,
  letters: string,
): Doubt | undefined {
  const { index } = context
  if (kind === 'url') return doubtUrl(text, index)
  if (kind === 'email') return localHost.test(text.split('@')[1] ?? '') ? 'general' : undefined
  if (kind === 'version') return doubtVersion(normal, at, context)
  if (isReformed(text, letters, index)) return 'calculable'
  if (index.traits.shapes.has(shapeOf(text))) return undefined
  // A short name with few digits, and one of lower-case words, may be that of a product or standard.
  const digits = letters.replace(/\D/g, '').length
  if (letters.length < 6 || digits < 3) return 'general'
  return undefined
}

/** Sections of the answer's own outline, addresses of networks, and `20.15` written as `20.15.0`. */
function doubtVersion(
  version: string,
  [start]: Value['at'],
  { text, index }: Context,
): Doubt | undefined {
  const parts = version.split('.')
  const isOutline = /(?:^|\n)[\s#>*|-]*$/.test(text.slice(Math.max(0, start - 12), start))
  if (isOutline || parts.length < 3) return 'coarse'
  if (plainAddress.test(version)) return 'general'
  const stem = parts.length === 4 ? parts.slice(0, 3).join('.') : version.replace(/(?:\.0)+$/, '')
  const isKnown = stem !== version && index.texts.some((one) => one.text.includes(stem))
  return isKnown ? 'calculable' : undefined
}

/** Tells whether an id is a seen one with another prefix, without zeros, or a part of one. */
function isReformed(text: string, letters: string, { texts }: Context['index']): boolean {
  const runs = (text.match(/\d{3,}/g) ?? []).filter((run) => !/^20[0-4]\d$/.test(run))
  const isSeen = (run: string) => {
    const whole = new RegExp(`(?<!\\d)0*${run.replace(/^0+/, '')}(?!\\d)`)
    return texts.some((one) => whole.test(one.text))
  }
  if (runs.length > 0 && runs.every(isSeen)) return true
  return letters.length >= part_chars_min && texts.some((one) => one.hasPart(letters))
}

/** Minimum characters of a start or end that names a longer id. */
const part_chars_min = 6

function doubtUrl(text: string, { texts }: Context['index']): Doubt | undefined {
  if (localHost.test(text)) return 'general'
  const [, host = '', path = ''] = /^https?:\/\/([^/?#]+)(.*)$/i.exec(text) ?? []
  if (path.replace(/\/$/, '') === '') return 'general'
  const isHostSeen = texts.some((one) => one.findCompact(compact(host)) !== undefined)
  // An address that is put together from a seen host and seen parts.
  const parts = path.split(/[/?#&=]/).filter((part) => /\d|.{12}/.test(part))
  const isBuilt = parts.every((part) =>
    texts.some((one) => one.findCompact(compact(part)) !== undefined),
  )
  return isHostSeen && isBuilt ? 'calculable' : undefined
}
