import { compact } from '../text/index.ts'
import type { Value } from '../values/index.ts'
import { readDates } from '../values/index.ts'
import { conditional, type Doubt, hypothetical, sentenceBefore } from './doubt.ts'
import { doubtCode } from './doubt-code.ts'
import { doubtQuote } from './doubt-quote.ts'
import type { NearCalculations } from './near-calculations.ts'
import type { Context } from './operands.ts'
import { isReachedByRate } from './rates.ts'
import { figuresOf } from './seen-traits.ts'
import { judgeOtherSign } from './signs.ts'
import { isSlippedSum } from './slipped-sum.ts'
import { isSwapped } from './swapped-digits.ts'

/** Returns why a value that was not found may be right; undefined if it must be unsupported. */
export function findDoubt(
  value: Value,
  context: Context,
  near: NearCalculations,
): Doubt | undefined {
  const { index, text } = context
  if (!index.isComplete) return 'incomplete'
  if (value.kind === 'quote') return doubtQuote(value, context)
  // Time zones, shifts and rounding can give any time.
  if (value.second !== undefined) return 'coarse'
  if (value.days !== undefined) return doubtDate(value, context)
  if (value.amount !== undefined) return doubtNumber(value, context, near)
  const letters = compact(value.text)
  if (index.ownTexts.some((one) => one.findCompact(letters) !== undefined)) return 'own_call'
  if (hypothetical.test(sentenceBefore(text, value))) return 'hypothetical'
  return doubtCode(value, context, letters, sentenceBefore(text, value))
}

const monthDay = (value: Value) =>
  (value.days ?? []).flatMap(({ month, day }) => (day === undefined ? [] : [{ month, day }]))

/** Returns the doubt about a date. Deadlines, series and working days can give any date. */
function doubtDate(value: Value, { index, text }: Context): Doubt {
  const wanted = monthDay(value)
  if (asOf.test(text.slice(Math.max(0, value.at[0] - 24), value.at[0]))) return 'general'
  if (wanted.some(({ month, day }) => holidays.has(`${month}-${day}`))) return 'general'
  if (index.ownTexts.some((own) => isNamed(wanted, own.text))) return 'own_call'
  return wanted.length === 0 ? 'coarse' : 'calculable'
}

function isNamed(wanted: ReturnType<typeof monthDay>, text: string): boolean {
  const named = readDates(text).flatMap(monthDay)
  return named.some(({ month, day }) =>
    wanted.some((one) => one.month === month && one.day === day),
  )
}

const asOf = /(?:\bas of|\btoday|\bStand:?|\bheute|\bau|\bà partir du|\bal)\W{0,4}(?:\p{L}+, )?$/iu
/** Days that everyone knows. */
const holidays = new Set(
  '1-1 1-6 2-14 5-1 7-4 7-14 8-15 10-3 10-31 11-1 11-11 12-6 12-24 12-25 12-26 12-31'.split(' '),
)
/** Minimum digits of a number that does not match by chance. */
const figures_min = { number: 5, money: 3, quantity: 4 } as const

function doubtNumber(value: Value, context: Context, near: NearCalculations): Doubt | undefined {
  const { text, index } = context
  const { kind } = value
  if (kind !== 'number' && kind !== 'money' && kind !== 'quantity') return 'coarse'
  const isFew = isSparse(kind, index)
  if (isSwapped(value, index, near, isFew ? 4 : 5) || isSlippedSum(value, context)) return undefined
  const sign = judgeOtherSign(value, context)
  if (sign !== undefined) return sign === 'wrong' && !isInList(value, text) ? undefined : 'sign'
  if (isCoarse(value, kind)) return 'coarse'
  // Where more was seen, an answer calculates in more steps than are followed.
  if (!isFew) return 'calculable'
  if (isOtherCurrency(value, index)) return undefined
  return doubtFigure(value, context, near)
}

function isCoarse({ text, isAbout, bound }: Value, kind: keyof typeof figures_min): boolean {
  return countFigures(text) < figures_min[kind] || isAbout === true || bound !== undefined
}

function doubtFigure(value: Value, context: Context, near: NearCalculations): Doubt | undefined {
  const { text, index } = context
  const sentence = sentenceBefore(text, value)
  if (countFigures(value.text) < 4 && conditional.test(sentence)) return 'hypothetical'
  const doubt = doubtBySentence(value, sentence, index)
  if (doubt !== undefined) return doubt
  return near.explains(value) || isReachedByRate(value, context) ? 'calculable' : undefined
}

/** Tells whether a value is in a row of a table or in an item of a list. */
function isInList({ at: [start] }: Value, text: string): boolean {
  return /^\s*(?:[-*•|]|\d+[.)])/.test(text.slice(text.lastIndexOf('\n', start) + 1))
}

function doubtBySentence(
  value: Value,
  sentence: string,
  index: Context['index'],
): Doubt | undefined {
  if (hypothetical.test(sentence)) return 'hypothetical'
  if (/(?:\bport\W{0,2}|[\w\]]:)$/i.test(sentence)) return 'general'
  if (isGeneral(value) || nameBefore.test(sentence)) return 'general'
  return isWrittenIn(value, index) ? 'calculable' : undefined
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

/** Distinct seen numbers up to which the calculations that are followed are all there are. */
const sparse_max = { money: 30, number: 3, quantity: -1 } as const
/** Tells whether so little was seen that no long calculation gives a number of this kind. */
function isSparse(kind: keyof typeof sparse_max, { amounts, points }: Context['index']): boolean {
  const numbers = new Set(amounts.map(({ value }) => value.amount?.written[0]))
  return numbers.size <= sparse_max[kind] && (kind === 'money' || points.length <= 1)
}

/** Tells whether a text has the digits in a format that is not read, or in a longer figure. */
function isWrittenIn({ text, amount }: Value, { texts }: Context['index']): boolean {
  const isWhole = amount === undefined || Number.isInteger(amount.written[0])
  const all = text.replace(/\D/g, '')
  const digits = isWhole && /[.,]00(?!\d)/.test(text) ? all.slice(0, -2) : all
  // Cents, and millionths of a unit, have zeros behind.
  const figure = [...digits.replace(/0+$/, '')].join("[.,’'  _]?")
  const part = digits === text ? `|(?<!\\d)${digits}\\d{3}|\\d{3}${digits}(?!\\d)` : ''
  const pattern = new RegExp(`(?<!\\d)${figure}(?:[.,]?0{1,6})?(?!\\d)${part}`)
  return texts.some((one) => pattern.test(one.text))
}

/** `ISO-27001`, `KB 5034441` and the parts of a code name something. */
const nameBefore = /(?:[\p{L}\p{N}]-|(?<!\p{L})\p{Lu}{2,8} )$/u

const week_s = 604_800

/** Limits of computers and of a day are known without a source. */
function isGeneral({ amount, kind }: Value): boolean {
  const [n = 0] = amount?.written ?? []
  if (kind !== 'number') return false
  return (
    (n % 3600 === 0 && n <= week_s) ||
    [n, n + 1, n - 1].some((one) => Number.isInteger(Math.log2(one)))
  )
}

/** Counts the digits that a number states: zeros at its ends are places. */
function countFigures(text: string): number {
  const digits = text.replace(/\D/g, '').replace(/^0+/, '')
  return /[.,]\d{1,2}(?!\d)/.test(text) ? digits.length : digits.replace(/0+$/, '').length
}
