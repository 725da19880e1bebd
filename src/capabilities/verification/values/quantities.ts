import { normaliseNumber } from '../knowledge/tokens.ts'
import { findMultiplier, findUnit } from './units.ts'

export type Bound = 'at least' | 'at most' | 'more than' | 'less than'

/** A number of a text with its unit. */
export interface Quantity {
  /** Value in the base unit of its kind. */
  readonly value: number
  /** Size of the last digit that was given, in the base unit. */
  readonly step: number
  /** True for a whole number without a factor such as `million`: it is not rounded. */
  readonly isWhole: boolean
  /** Kind of its unit; undefined for a bare number. */
  readonly kind: string | undefined
  /** Word after a number without a known unit, such as `seats`. */
  readonly counted: string | undefined
  readonly bound: Bound | undefined
  /** True after `about` and the like. */
  readonly approximate: boolean
  readonly start: number
  readonly end: number
}

/** Quantities that are read from one text; claims and windows have far fewer. */
const quantities_max = 1_000

const words: Record<string, number> = {}
for (const [list, first] of [
  ['two three four five six seven eight nine ten eleven twelve', 2],
  ['zwei drei vier fünf sechs sieben acht neun zehn elf zwölf', 2],
  ['deux trois quatre cinq six sept huit neuf dix onze douze', 2],
  ['dos tres cuatro cinco seis siete ocho nueve diez once doce', 2],
] as const) {
  for (const [position, word] of list.split(' ').entries()) words[word] = first + position
}
Object.assign(words, { thirteen: 13, fourteen: 14, fifteen: 15, sixteen: 16, seventeen: 17 })
Object.assign(words, { eighteen: 18, nineteen: 19, twenty: 20, thirty: 30, forty: 40, fifty: 50 })
Object.assign(words, { sixty: 60, seventy: 70, eighty: 80, ninety: 90, hundred: 100, dozen: 12 })

const numberWords = new RegExp(`^(?:${Object.keys(words).join('|')})$`, 'u')
const numberPattern =
  /(?<![\p{L}\p{N}_])(?:[-−](?=\d))?(?:\d+(?:[.,\u00a0\u202f]\d+)*|\p{L}{3,9}(?![\p{L}\p{N}]))/gu
const unitPattern =
  /^[ \u00a0\u202f-]?(percentage points?|per cent|[%€$£¥]|°[CF]|[\p{L}µ]+(?:\/[hs])?[²³23]?(?![\p{L}\p{N}]))/u
const currencyBefore = /(?:[€$£¥]|\b(?:EUR|USD|GBP|CHF|JPY|Fr\.))[ \u00a0\u202f]?$/u

/** Reads the numbers of a text, in digits or words, with units, bounds and `about`. */
export function readQuantities(text: string): Quantity[] {
  const found: Quantity[] = []
  for (const match of text.matchAll(numberPattern)) {
    if (found.length >= quantities_max) break
    const isDigits = /\d/.test(match[0])
    if (!isDigits && !numberWords.test(match[0].toLowerCase())) continue
    found.push(readQuantity(text, match.index, match[0]))
  }
  return found
}

function readQuantity(text: string, start: number, written: string): Quantity {
  const number = readNumber(written)
  const before = text.slice(Math.max(0, start - 32), start)
  const currency = currencyBefore.exec(before)?.[0].trim()
  let end = start + written.length
  let factor = 1
  let unit = currency === undefined ? undefined : findUnit(currency)
  let word = nextWord(text, end)
  const multiplier = word && findMultiplier(word.name, unit !== undefined)
  if (word !== undefined && multiplier !== undefined) {
    factor = multiplier
    end = word.end
    word = nextWord(text, end)
  }
  const after = word === undefined ? undefined : findUnit(word.name)
  if (word !== undefined && unit === undefined && after !== undefined) {
    unit = after
    end = word.end
  }
  const scale = factor * (unit?.factor ?? 1)
  return {
    value: number.value * scale,
    step: number.step * scale,
    isWhole: number.step === 1 && factor === 1,
    kind: unit?.kind,
    counted: unit === undefined ? word?.name.toLowerCase().replace(/s$/, '') : undefined,
    ...readHedges(before, text.slice(end, end + 16)),
    start,
    end,
  }
}

function readNumber(written: string): { value: number; step: number } {
  const word = words[written.toLowerCase()]
  if (word !== undefined) return { value: word, step: 1 }
  const normal = normaliseNumber(written.replace(/^[-−]/, ''))
  const value = Number(normal)
  const decimals = /[.,](\d+)$/.exec(written)?.[1]?.length ?? 0
  const step = Number.isInteger(value) && !/[.,]\d{1,2}$/.test(written) ? 1 : 10 ** -decimals
  return { value: /^[-−]/.test(written) ? -value : value, step }
}

function nextWord(text: string, from: number): { name: string; end: number } | undefined {
  const match = unitPattern.exec(text.slice(from, from + 40))
  if (match?.[1] === undefined) return undefined
  const name = match[1].replace(/ points?$/, '_point').replace('per cent', '%')
  return { name, end: from + match[0].length }
}

const bounds: readonly [RegExp, Bound][] = [
  [
    /\b(?:at least|a minimum of|no less than|not less than|mindestens|au moins|al menos)\W*$/i,
    'at least',
  ],
  [
    /\b(?:no more than|not more than|at most|up to|a maximum of|höchstens|bis zu|maximal|jusqu'à|hasta)\W*$/i,
    'at most',
  ],
  [/\b(?:more than|over|above|exceeding|mehr als|über|plus de|más de)\W*$/i, 'more than'],
  [/\b(?:less than|fewer than|under|below|weniger als|unter|moins de|menos de)\W*$/i, 'less than'],
]
const approximate =
  /(?:\b(?:about|around|roughly|approximately|approx\.|nearly|almost|some|circa|rund|etwa|ungefähr|environ|unos|cerca de)|~|≈)\W*$/i

function readHedges(before: string, after: string) {
  const stated = bounds.find(([pattern]) => pattern.test(before))?.[1]
  const orMore = /^\W{0,2}(?:or more|oder mehr|ou plus)/i.test(after) ? 'at least' : undefined
  return { bound: stated ?? orMore, approximate: approximate.test(before) }
}

/** Reports whether two quantities may be compared: same kind, or one has neither unit nor noun. */
export function isComparable(one: Quantity, other: Quantity): boolean {
  if (one.kind !== undefined && other.kind !== undefined) return one.kind === other.kind
  return isBare(one) || isBare(other) || one.kind === other.kind
}

function isBare({ kind, counted }: Quantity): boolean {
  return kind === undefined && counted === undefined
}

/** Reports whether a stated quantity agrees with a known value of the same base unit. */
export function agrees(stated: Quantity, known: number): boolean {
  const slack = Math.abs(stated.value) * 1e-9
  if (stated.bound === 'at least') return known >= stated.value - slack
  if (stated.bound === 'at most') return known <= stated.value + slack
  if (stated.bound === 'more than') return known > stated.value + slack
  if (stated.bound === 'less than') return known < stated.value - slack
  const tolerance = stated.approximate
    ? roundStep(stated) / 2
    : stated.isWhole
      ? 0
      : stated.step / 2
  return Math.abs(stated.value - known) <= tolerance + slack
}

/** Size of the last digit that is not zero: 1,200 with `about` is known to the hundred. */
function roundStep({ value, step }: Quantity): number {
  let size = step
  const limit = Math.abs(value)
  while (size * 10 <= limit && isMultiple(value, size * 10)) size *= 10
  return Math.max(size, limit * 0.1)
}

function isMultiple(value: number, size: number): boolean {
  return Math.abs(value / size - Math.round(value / size)) < 1e-9
}
