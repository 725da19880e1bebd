import type { Value } from '../../values/index.ts'
import type { Seen } from '../seen/seen.ts'
import type { Derivation } from './derive-number.ts'

/** Maximum terms of a calculation that an answer writes out. */
const terms_max = 12

const signs: Record<string, 1 | -1 | '×' | '/'> = {
  '+': 1,
  plus: 1,
  '-': -1,
  '–': -1,
  '−': -1,
  minus: -1,
  '×': '×',
  x: '×',
  '*': '×',
  '·': '×',
  times: '×',
  '/': '/',
  '÷': '/',
}

/**
 * Checks a calculation that the answer writes out, "CHF 19.90 + 7 × CHF 3 = CHF 40.90": its
 * operands are supported, and its result is right.
 */
export function deriveWritten(
  value: Value,
  text: string,
  supported: readonly Seen[],
): Derivation | undefined {
  const line = text.lastIndexOf('\n', value.at[0]) + 1
  const before = supported
    .filter(
      ({ value: { at, amount } }) => amount !== undefined && at[0] >= line && at[1] <= value.at[0],
    )
    .sort((a, b) => b.value.at[0] - a.value.at[0])
  const last = before[0]
  if (
    last === undefined ||
    !/^[^\w]{0,3}=[^\w]{0,3}$/.test(text.slice(last.value.at[1], value.at[0]))
  )
    return undefined
  const terms = readTerms(text, before.slice(0, terms_max))
  const half = value.amount?.half ?? 0
  if (terms.length < 2 || Math.abs(evaluate(terms) - (value.amount?.readings[0] ?? 0)) > half)
    return undefined
  const operands = terms.map(({ seen }) => seen.evidence)
  const from = operands[0]?.at[0] ?? line
  return { operation: 'calculation', formula: text.slice(from, last.value.at[1]), operands }
}

type Term = { sign: 1 | -1 | '×' | '/'; n: number; seen: Seen }

/** Reads the terms from the last to the first, as long as only a sign is between them. */
function readTerms(text: string, before: readonly Seen[]): Term[] {
  const terms: Term[] = []
  for (const [at, seen] of before.entries()) {
    const earlier = before[at + 1]
    const between = earlier === undefined ? '' : text.slice(earlier.value.at[1], seen.value.at[0])
    const sign =
      signs[
        between
          .trim()
          .toLowerCase()
          .replace(/^[^-+×x*·/÷–−]*(?=[-+×x*·/÷–−])/, '')
      ]
    const n = seen.value.amount?.readings[0] ?? 0
    terms.unshift({ sign: sign ?? 1, n, seen })
    if (sign === undefined) break
  }
  return terms
}

function evaluate(terms: readonly Term[]): number {
  const summands: number[] = []
  for (const { sign, n } of terms) {
    const last = summands.at(-1) ?? 0
    if (sign === '×') summands.splice(-1, 1, last * n)
    else if (sign === '/') summands.splice(-1, 1, last / n)
    else summands.push(sign * n)
  }
  return summands.reduce((sum, n) => sum + n, 0)
}
