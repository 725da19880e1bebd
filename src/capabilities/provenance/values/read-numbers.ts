import { fractionSign, readFraction } from '../text/index.ts'
import { readHedges } from './hedges.ts'
import { numberWords, readNumberWord } from './number-words.ts'
import { findCurrency, findScale, findUnit, isMinorUnit, isPercent } from './units.ts'
import type { Amount, Value } from './value.ts'

const plainFigures =
  "\\d{1,3}(?:[,.’' \\u00a0\\u202f_]\\d{3}){1,4}(?!\\d)(?:[.,]\\d{1,6}(?!\\d))?|\\d{1,15}(?:[.,]\\d{1,9})?"
/** `2½`, `½`, `2 1/2`. */
const fractions = `(?:\\d{1,6}[ \\u00a0]?)?${fractionSign}|\\d{1,3}[ \\u00a0](?:[13][/⁄]4|[12][/⁄]3|1[/⁄]2|[1357][/⁄]8)(?![\\d/])`
/** Words of these scripts follow figures without a space. */
const unspaced = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}'
const digits = new RegExp(
  `(?<!(?:(?![${unspaced}])\\p{L})|\\d)(?:${fractions}|${plainFigures})`,
  'gu',
)

/** Amounts of bank messages have their currency before them, and a comma behind: `USD48500,`. */
const glued =
  /(?:EUR|USD|GBP|CHF|SEK|NOK|DKK|PLN|INR|JPY|CAD|AUD)(\d{1,15}(?:[.,]\d{1,9})?)(?![\p{L}\d])/gu

/** Characters behind a figure that are read for its unit. */
const unit_chars = 28
const unitAfter =
  /^(?:[  \u202f-]?(?<word>[€$£¥₹%]|°[CF]|(?:ft|lb|in|lbf)[-·](?:lbs?|ft)|(?:km|m)\/[hs]|percentage points?|per cent|[\p{L}µ]{1,24}[²³23]?)(?![\p{L}]))/u
const currencyBefore =
  /(?:[€$£¥₹]|(?<![\p{L}])(?:EUR|USD|GBP|CHF|SEK|NOK|DKK|PLN|INR|JPY|CAD|AUD)) ?[-−–+]?$/u
const ordinal = /^(?:st|nd|rd|th|º|ª|er|ème|e)(?![\p{L}])/u

/** Reads the numbers of a text with their units: figures and number words, up to a maximum. */
export function readNumbers(text: string, values_max = Number.POSITIVE_INFINITY): Value[] {
  const found: Value[] = []
  for (const figure of figuresOf(text)) {
    if (found.length >= values_max) break
    found.push(numberFrom(text, figure))
  }
  for (const match of text.matchAll(numberWords)) {
    if (found.length >= 2 * values_max) break
    const fraction = / (?:and a half|einhalb|et demie?|y media?)/y
    fraction.lastIndex = match.index + match[0].length
    const half = fraction.exec(text)?.[0] ?? ''
    const readings = [readNumberWord(match[0]) + (half === '' ? 0 : 0.5)]
    const written = match[0] + half
    found.push(
      amountFrom(text, { at: match.index, written }, { readings, half: half === '' ? 0.5 : 0.25 }),
    )
  }
  return joinDurations(text, found)
}

function* figuresOf(text: string): Generator<Written> {
  for (const { index, 0: written } of text.matchAll(digits)) {
    const end = index + written.length
    // The date of a bank message has a currency behind it.
    if (!/^[A-Z]{3}\d$/.test(text.slice(end, end + 4))) yield { at: index, written }
  }
  for (const { index, 0: whole, 1: written = '' } of text.matchAll(glued)) {
    const isWord = /\p{L}/u.test(text[index - 1] ?? '')
    if (!isWord) yield { at: index + whole.length - written.length, written }
  }
}

/** Joins "2 hours 35 minutes" and "1 h 50" to one duration each. */
function joinDurations(text: string, values: Value[]): Value[] {
  const joined: Value[] = []
  for (const value of values.sort((a, b) => a.at[0] - b.at[0])) {
    const last = joined.at(-1)
    const one = last === undefined ? undefined : durationOf(text, last, value)
    if (one === undefined) joined.push(value)
    else joined.splice(-1, 1, one)
  }
  return joined
}

function durationOf(text: string, first: Value, second: Value): Value | undefined {
  const { amount: one } = first
  const { amount: two } = second
  if (one?.unit !== 'duration' || two === undefined) return undefined
  const between = text.slice(first.at[1], second.at[0])
  const isBareMinute = two.unit === '' && /^ ?$/.test(between) && / ?h$/i.test(first.text)
  if (
    !isBareMinute &&
    (two.unit !== 'duration' || !/^(?:,? |,? and | und | et | y )?$/.test(between))
  )
    return undefined
  const factor = isBareMinute ? 60 : 1
  const [more = 0] = one.readings
  const [less = 0] = two.readings
  if (less < 0 || less * factor >= Math.abs(more) || two.half * factor >= one.half) return undefined
  const readings = [more + Math.sign(more) * less * factor]
  const at = [first.at[0], second.at[1]] as const
  return {
    ...first,
    text: text.slice(...at),
    at,
    normal: `${readings[0]} duration`,
    amount: {
      from: one.from,
      readings,
      written: [readings[0] ?? 0],
      unit: 'duration',
      scale: 1,
      half: two.half * factor,
      isRounded: false,
    },
  }
}

type Written = { at: number; written: string }
type Figures = { readings: number[]; half: number }

function numberFrom(text: string, { at, written }: Written): Value {
  return amountFrom(text, { at, written }, readFigures(written))
}

const endsInFraction = new RegExp(`^(\\d*?)[ \\u00a0]?(${fractionSign}|\\d[/⁄]\\d)$`, 'u')

/** Returns the readings of figures with separators or with a fraction. */
function readFigures(written: string): Figures {
  const fraction = endsInFraction.exec(written)
  if (fraction !== null) {
    const [, whole = '', part = ''] = fraction
    return { readings: [Number(whole) + readFraction(part)], half: 0.05 }
  }
  const bare = written.replace(/[’' \u00a0\u202f_]/g, '')
  const comma = bare.lastIndexOf(',')
  const point = bare.lastIndexOf('.')
  const lastAt = Math.max(comma, point)
  if (lastAt < 0) return { readings: [Number(bare)], half: 0.5 }
  const decimals = bare.length - lastAt - 1
  const whole = Number(bare.replace(/[.,]/g, ''))
  const decimal = Number(`${bare.slice(0, lastAt).replace(/[.,]/g, '')}.${bare.slice(lastAt + 1)}`)
  const separators = bare.match(/[.,]/g) ?? []
  const isGrouped = separators.length > 1 && new Set(separators).size === 1
  if (isGrouped) return { readings: [whole], half: 0.5 }
  const mayGroup = decimals === 3 && separators.length === 1 && !bare.startsWith('0')
  // A comma before three digits groups thousands first; a point is a fraction first.
  if (mayGroup)
    return comma > point
      ? { readings: [whole, decimal], half: 0.5 }
      : { readings: [decimal, whole], half: 0.0005 }
  return { readings: [decimal], half: 0.5 * 10 ** -decimals }
}

function amountFrom(text: string, { at, written }: Written, figures: Figures): Value {
  const currency = currencyBefore.exec(text.slice(Math.max(0, at - 16), at))?.[0]
  const around = readAround(text, at + written.length, currency)
  const { unit, scale, end } = around
  const { sign, start } = readSign(text, at - (currency?.length ?? 0), currency)
  const convert = (one: number) => (sign * one * scale + (unit.offset ?? 0)) * unit.factor
  const numbers =
    currency === undefined ? figures.readings : wholeReadings(written, figures.readings)
  const amount: Amount = {
    from: at,
    noun: unit.noun,
    readings: numbers.map(convert),
    written: numbers.map((one) => sign * one * scale),
    unit: unit.name,
    scale,
    half: figures.half * scale * unit.factor,
    isRounded: scale > 1 || (numbers[0] ?? 0) % 10 === 0,
  }
  return {
    kind: kindFrom(unit.name),
    text: text.slice(start, end),
    at: [start, end],
    normal: `${amount.readings[0]} ${unit.name}`,
    amount,
    ...readHedges(text, start, end),
  }
}

/** `€1,000` is never 1: amounts behind their currency group thousands by commas. */
function wholeReadings(written: string, readings: readonly number[]): readonly number[] {
  return /,\d{3}$/.test(written) ? readings.slice(0, 1) : readings
}

/** A sign of its own: behind a number, its unit or a word, a dash makes a range or a name. */
const minus =
  /(?<![\p{L}\p{N}_)\]%€$£¥₹./−–-])(?<!\d ?(?:EUR|USD|GBP|CHF|SEK|NOK|DKK|kr|[%€$£¥₹])? )[-−–]$/u
const minusWord = /(?<!\p{N}[^\n]{0,20})(?<!\p{L})minus $/iu
/** Characters before a number that are read for its sign. */
const sign_chars = 32

/** Reads the sign before a number or its currency, and where the number starts with it. */
function readSign(text: string, start: number, currency: string | undefined) {
  const before = text.slice(Math.max(0, start - sign_chars), start)
  // "5 EUR-20" is a range: the currency belongs to the first number.
  if (currency !== undefined && /[-−–]$/.test(currency))
    return { sign: /\d ?$/.test(before) ? 1 : -1, start }
  if (!/[-−–]$|s $/i.test(before)) return { sign: 1, start }
  const length = (minus.exec(before) ?? minusWord.exec(before))?.[0].length ?? 0
  return { sign: length > 0 ? -1 : 1, start: start - length }
}

/** Reads the scale and the unit behind the figures, and where they end. */
function readAround(text: string, from: number, currency: string | undefined) {
  if (ordinal.test(text.slice(from, from + 6))) {
    const unit: UnitRead = { name: 'count', factor: 1 }
    return { unit, scale: 1, end: from }
  }
  const first = unitAfter.exec(text.slice(from, from + unit_chars))
  const name = first?.groups?.['word'] ?? ''
  const isTight = first !== null && !/^[ \u00a0]/.test(first[0])
  const scale = findScale(name, isTight && (currency !== undefined || /^k/i.test(name)))
  const middle = scale === undefined ? from : from + (first?.[0].length ?? 0)
  const word = scale === undefined ? first : unitAfter.exec(text.slice(middle, middle + unit_chars))
  const unit = unitFrom(currency, word?.groups?.['word']?.replace(' ', '_'))
  const end = unit.isWordTaken === true ? middle + (word?.[0].length ?? 0) : middle
  return { unit, scale: scale ?? 1, end }
}

type UnitRead = {
  name: string
  factor: number
  offset?: number
  isWordTaken?: boolean
  noun?: string
}

function unitFrom(before: string | undefined, after: string | undefined): UnitRead {
  const currency = before === undefined ? undefined : findCurrency(before.replace(/[\s+−–-]/g, ''))
  if (currency !== undefined) return { name: currency, factor: 1 }
  if (after === undefined) return { name: '', factor: 1 }
  if (isPercent(after)) return { name: '%', factor: 1, isWordTaken: true }
  if (isMinorUnit(after)) return { name: 'cent', factor: 0.01, isWordTaken: true }
  const name = findCurrency(after)
  if (name !== undefined) return { name, factor: 1, isWordTaken: true }
  const unit = findUnit(after)
  if (unit !== undefined) {
    return {
      name: unit.dimension,
      factor: unit.factor,
      isWordTaken: true,
      ...(unit.offset === undefined ? {} : { offset: unit.offset }),
    }
  }
  // A noun of three letters or more that ends in a plural: a count of something.
  const isCount = /^\p{Ll}{2,}s$/u.test(after) && !notNouns.has(after)
  return { name: isCount ? 'count' : '', factor: 1, noun: after }
}

const notNouns = new Set(
  'plus minus is as was this its has does less versus vs les des dans los las sans vers aus bis das des als us carries costs makes comes leaves'.split(
    ' ',
  ),
)

function kindFrom(unit: string): Value['kind'] {
  if (unit === '%') return 'percent'
  if (unit === '' || unit === 'count') return 'number'
  return /^[A-Z]{2,3}$|^cent$/.test(unit) ? 'money' : 'quantity'
}
