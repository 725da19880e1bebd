import { compact } from '../../text/index.ts'
import type { Value } from '../../values/index.ts'
import { readDates } from '../../values/index.ts'
import { derive, type Means } from '../derivations/derive-value.ts'
import { anyOperation, type Named } from '../derivations/read-operations.ts'
import type { Context } from '../lookup/operands.ts'
import { judgeOtherSign } from '../lookup/signs.ts'
import { conditional, type Doubt, hypothetical, sentenceBefore } from './doubt.ts'
import { doubtCode } from './doubt-code.ts'
import { doubtQuote } from './doubt-quote.ts'
import { isChained } from './explain-chain.ts'

/** Facts about a value that was neither found nor derived. */
export type Open = Named & Pick<Means, 'operands'>

/** Returns why a value without a source may still be right; undefined if nothing says so. */
export function findDoubt(value: Value, context: Context, open: Open): Doubt | undefined {
  const { index, text } = context
  if (value.kind === 'quote') return doubtQuote(value, context)
  const sentence = sentenceBefore(text, value)
  if (hypothetical.test(sentence)) return 'hypothetical'
  if (value.second !== undefined) return doubtTime(value, context, open)
  if (value.days !== undefined) return doubtDate(value, context, open)
  if (value.amount !== undefined) return doubtNumber(value, context, open)
  const letters = compact(value.text)
  if (index.ownTexts.some((one) => one.findCompact(letters) !== undefined)) return 'own_call'
  return doubtCode(value, context, letters, sentence)
}

/** A time in another zone, or before or after a duration, may be worked out. */
function doubtTime(value: Value, { index }: Context, open: Open): Doubt | undefined {
  const { second = 0 } = value
  const isShifted =
    (index.hasTimeZone || value.zone_s !== undefined) &&
    index.times.some((seen) => Math.abs((seen.value.second ?? 0) - second) % 1800 === 0)
  return isShifted || open.isCalculated || value.isAbout === true ? 'calculable' : undefined
}

const monthDay = (value: Value) =>
  (value.days ?? []).flatMap(({ month, day }) => (day === undefined ? [] : [{ month, day }]))

/** Deadlines, series and working days may give a date. */
function doubtDate(value: Value, { index, text }: Context, open: Open): Doubt | undefined {
  const wanted = monthDay(value)
  if (asOf.test(text.slice(Math.max(0, value.at[0] - 24), value.at[0]))) return 'general'
  if (wanted.some(({ month, day }) => holidays.has(`${month}-${day}`))) return 'general'
  if (index.ownTexts.some((own) => isNamed(wanted, own.text))) return 'own_call'
  if (wanted.length === 0) return 'coarse'
  return open.named.has('date') && index.durations.length > 0 ? 'calculable' : undefined
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

function doubtNumber(value: Value, context: Context, open: Open): Doubt | undefined {
  const { text } = context
  const sentence = sentenceBefore(text, value)
  if (judgeOtherSign(value, context) === 'open') return 'sign'
  if (countFigures(value.text) < 4 && conditional.test(sentence)) return 'hypothetical'
  if (/(?:\bport\W{0,2}|[\w\]]:)$/i.test(sentence)) return 'general'
  if (isGeneral(value) || nameBefore.test(sentence)) return 'general'
  if (open.isCalculated || isDerivable(value, context, open)) return 'calculable'
  if (isChained(value, open.operands.all)) return 'calculable'
  return value.isAbout === true || value.bound !== undefined ? 'coarse' : undefined
}

/** Tells whether some operation that the sentence does not name gives the value. */
function isDerivable(value: Value, context: Context, { operands }: Open): boolean {
  return derive(value, context, { operands, named: anyOperation }) !== undefined
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
    [n, n + 1, n - 1].some((one) => one >= 256 && Number.isInteger(Math.log2(one)))
  )
}

/** Counts the digits that a number states: zeros at its ends are places. */
function countFigures(text: string): number {
  const digits = text.replace(/\D/g, '').replace(/^0+/, '')
  return /[.,]\d{1,2}(?!\d)/.test(text) ? digits.length : digits.replace(/0+$/, '').length
}
