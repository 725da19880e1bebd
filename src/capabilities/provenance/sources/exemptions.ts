import type { Value } from '../values/index.ts'
import { doubts } from './doubts/doubt.ts'
import { isAttributed } from './doubts/doubt-quote.ts'

/** Why a value needs no evidence. */
const exemptions = [
  'small_integer',
  'list_number',
  'constant',
  'path',
  'example',
  'code',
  'rate',
  'name',
  'own_words',
] as const
export type Exemption = (typeof exemptions)[number]

/** Integers up to this one are not checked. */
const small_integer_max = 5

/** Returns why a value needs no evidence; undefined if it needs some. */
export function findExemption(value: Value, text: string): Exemption | undefined {
  if (value.kind === 'path') return 'path'
  if (isInCode(value, text)) return 'code'
  if (isListNumber(value, text)) return 'list_number'
  if (isConstant(value, text)) return 'constant'
  if (isSmall(value)) return 'small_integer'
  if (isRate(value, text)) return 'rate'
  if (value.kind === 'quote' && isTitle(value.text)) return 'name'
  if (value.kind === 'quote' && !isAttributed(value, text)) return 'own_words'
  return isExample(value, text) ? 'example' : undefined
}

function isSmall({ amount, kind, text }: Value): boolean {
  const [written = -1] = amount?.written ?? []
  // "One euro is 1.08 dollars" states a rate.
  if (kind === 'money' && /^(?:one|eine?|une?|una?|uno)\b/i.test(text)) return true
  if (kind !== 'number' && kind !== 'quantity') return false
  return Number.isInteger(written) && Math.abs(written) <= small_integer_max
}

function isInCode({ at: [start] }: Value, text: string): boolean {
  return (text.slice(0, start).match(/^ {0,3}```/gm)?.length ?? 0) % 2 === 1
}

function isListNumber({ at: [start, end], kind }: Value, text: string): boolean {
  if (kind !== 'number') return false
  const lineStart = text.lastIndexOf('\n', start - 1) + 1
  return (
    /^[\s>#*_|-]*$/.test(text.slice(lineStart, start)) && /^[.)]\s/.test(text.slice(end, end + 2))
  )
}

const constants = new Set(['24/7', '365', '100%', '100 %', '0%', '0 %', '42.195 km', '50/50'])

function isConstant({ text: written, at: [start, end], amount }: Value, text: string): boolean {
  if (constants.has(written.toLowerCase())) return true
  if (/^(?:24\/7|50\/50)(?!\d)/.test(text.slice(start, start + 6))) return true
  if (/(?:24\/7|50\/50)$/.test(text.slice(Math.max(0, start - 3), end))) return true
  if (/^(?:255\.){1,3}\d{1,3}\.\d{1,3}/.test(written)) return true
  const before = text.slice(Math.max(0, start - 8), start)
  const figures = text.slice(Math.max(0, start - 8), amount?.from ?? start)
  if (/\bport $/i.test(before) && wellKnownPorts.has(written)) return true
  if (/\b(?:UTC|GMT) ?[-+−]$/.test(figures)) return true
  if (
    /^(?:st|nd|rd|th)?(?: (?:to|and|or|or the|to the) \d{1,2}(?:st|nd|rd|th))? century/.test(
      text.slice(end, end + 30),
    )
  )
    return true
  return amount?.written[0] === 0 || isPowerOfTwo(amount?.written[0])
}

const wellKnownPorts = new Set(['22', '25', '53', '80', '443', '5432', '6379', '3306', '8080'])

function isPowerOfTwo(n: number | undefined): boolean {
  return n !== undefined && n >= 256 && Number.isInteger(Math.log2(n))
}

/** A rate such as "160 MB/s" is not recomputed. */
function isRate({ at: [, end], kind }: Value, text: string): boolean {
  if (kind !== 'quantity' && kind !== 'time' && kind !== 'number') return false
  const after = text.slice(end, end + 24)
  if (/^ ?(?:school|working|business|week) ?days\b|^ ?(?:Werktage|Arbeitstage)/i.test(after))
    return true
  return (
    kind !== 'number' &&
    (/^(?:\/(?:s|h|min|d)\b|ps\b| per [a-z])/.test(after) ||
      /(?:km\/h|mph)$/.test(text.slice(0, end)))
  )
}

/** The name of a thing, with capitals: "Payload Too Large". */
function isTitle(quote: string): boolean {
  return quote.split(/\s+/).every((word) => /^[\p{Lu}\d]/u.test(word))
}

const example =
  /(?:\be\.g\.|\bfor example\b|\bfor instance\b|\bsay\b|\bassum(?:e|ing|es)\b|\bsuppose\b|\bz\.\s?B\.|\bzum Beispiel\b|\bpar exemple\b|\bpor ejemplo\b)[^.\n]{0,60}$/i

function isExample({ at: [start], kind }: Value, text: string): boolean {
  return kind !== 'quote' && example.test(text.slice(Math.max(0, start - 90), start))
}

/** Why a value was not checked, may be right without a source, or needs none. */
export const valueReasons = ['incomplete', ...doubts, ...exemptions] as const

export type ValueReason = (typeof valueReasons)[number]
