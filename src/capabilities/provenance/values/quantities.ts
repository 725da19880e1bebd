import type { Bound } from './hedges.ts'
import { readNumbers } from './read-numbers.ts'
import { findKind } from './units.ts'
import type { Amount, Value } from './value.ts'

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

/** Reads the numbers of a text, in digits or words, with units, bounds and `about`. */
export function readQuantities(text: string): Quantity[] {
  return readNumbers(text, quantities_max)
    .flatMap((value) => quantityFrom(text, value) ?? [])
    .slice(0, quantities_max)
}

function quantityFrom(text: string, { amount, at, bound, isAbout }: Value): Quantity | undefined {
  const value = amount?.readings[0]
  if (amount === undefined || value === undefined) return undefined
  const isWord = /\p{L}/u.test(text[amount.from] ?? '')
  // "One" is mostly a pronoun.
  if (isWord && Math.abs(value) < 2) return undefined
  const scale = value === 0 ? 1 : Math.abs(value / (amount.written[0] ?? value)) * amount.scale
  return {
    value,
    step: amount.half * 2,
    isWhole: amount.scale === 1 && Math.abs(amount.half * 2 - scale) < scale * 1e-9,
    ...readKind(amount),
    bound,
    approximate: isAbout === true,
    start: amount.from,
    end: at[1],
  }
}

function readKind({ unit, noun = '' }: Amount): Pick<Quantity, 'kind' | 'counted'> {
  if (unit !== '' && unit !== 'count') return { kind: unit, counted: undefined }
  const kind = findKind(noun)?.kind
  const counted =
    noun === '' || kind !== undefined ? undefined : noun.toLowerCase().replace(/s$/, '')
  return { kind, counted }
}

/** Reports whether two quantities may be compared: same kind, or one has neither unit nor noun. */
export function isComparable(one: Quantity, other: Quantity): boolean {
  if (one.kind !== undefined && other.kind !== undefined) return isSameKind(one.kind, other.kind)
  return isBare(one) || isBare(other) || one.kind === other.kind
}

/** Cents are cents of any currency. */
export function isSameKind(one: string, other: string): boolean {
  const isMoney = (kind: string) => /^[A-Z]{2,3}$/.test(kind)
  if (one === 'cent') return isMoney(other) || other === 'cent'
  return one === other || (other === 'cent' && isMoney(one))
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
