import type { CheckedValue } from '../../provenance/sources/index.ts'
import type { Severity } from '../contract.ts'

/** How well an answer is grounded. */
export type Grounds = {
  /** Values of the answer with a source, with those that were calculated from one. */
  found: number
  /** Values of the answer that need a source. */
  total: number
  /** Whether a tool gave the agent facts. */
  hasTools: boolean
  /** Share of the other values that must have a source for medium severity. */
  share_min: number
}

/** Values that are copied, never calculated. */
const copied: ReadonlySet<string> = new Set(['id', 'url', 'email', 'quote', 'version'])
const code = /[\d_-]|^\p{Lu}{2,}$/u
/** Share of the other values that must have a source beside a value that is copied or a slip. */
const copied_share_min = 0.5
/** Other values that an answer needs before their share says something of an amount. */
const amount_others_min = 2

/**
 * Returns the severity of a value without a source. Low, unless the rest of the answer is grounded:
 * then medium for values that are copied, for slips and for values of another subject, and for amounts
 * in an answer whose other values nearly all have a source. Other numbers stay low, because answers
 * often work them out.
 */
export function severityOfValue(
  value: CheckedValue,
  { found, total, hasTools, share_min }: Grounds,
): Severity {
  if (!hasTools || value.doubt !== undefined || isVague(value)) return 'low'
  const others = total - 1
  const share = others <= 0 ? 1 : found / others
  if (!isPlain(value)) return share >= copied_share_min ? 'medium' : 'low'
  const isAmount = value.kind === 'money' && others >= amount_others_min
  return isAmount && share >= share_min ? 'medium' : 'low'
}

/** A word may name more than one record; a code names one. */
function isVague({ verdict, subject = '' }: CheckedValue): boolean {
  return verdict === 'other_subject' && !code.test(subject)
}

function isPlain({ kind, verdict, instead }: CheckedValue): boolean {
  return verdict === 'unsupported' && instead === undefined && !copied.has(kind)
}
