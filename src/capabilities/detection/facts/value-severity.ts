import type { CheckedValue } from '../../provenance/sources/index.ts'
import type { Severity } from '../contract.ts'

/** How well an answer is grounded, and what is known of the project. */
export type Grounds = {
  /** Values of the answer with a source, and those that were calculated. */
  found: number
  derived: number
  /** Values of the answer that need a source. */
  total: number
  /** Whether a tool gave the agent facts. */
  hasTools: boolean
  /** Share of the other values that must have a source for medium severity. */
  share_min: number
  /** Values of the project without a source, as a share; null if too few were checked. */
  unexplained_rate: number | null
  /** Share of such findings that reviewers call right; null if too few were reviewed. */
  confirmed_share: number | null
}

/** Values that are copied, never calculated. */
const copied: ReadonlySet<string> = new Set(['id', 'url', 'email', 'quote', 'version'])
const code = /[\d_-]|^\p{Lu}{2,}$/u
/** Share of the other values that must have a source beside a value that is copied or a slip. */
const copied_share_min = 0.5
/** Other values that an answer needs before their share says something of a plain number. */
const others_min = 3
/** The same for an amount. */
const amount_others_min = 2
/** Share of unexplained values below which one more is rare in a project. */
const rare_rate_max = 0.02
/** Share of right findings, by reviewers, below which a value is at most low. */
const confirmed_min = 0.5
/** Share of right findings, by reviewers, from which a value is medium. */
const trusted_min = 0.9

/**
 * Returns the severity of a value without a source. Low, unless the rest of the answer is grounded:
 * then medium for values that are copied, for slips and for values of another subject. Amounts need an
 * answer whose other values nearly all have a source; other numbers, which answers often work out,
 * also need a project in which a value without a source is rare.
 */
export function severityOfValue(value: CheckedValue, grounds: Grounds): Severity {
  const { hasTools, confirmed_share } = grounds
  const isDenied = confirmed_share !== null && confirmed_share < confirmed_min
  if (!hasTools || value.doubt !== undefined || isDenied) return 'low'
  const others = grounds.total - 1
  const share = others <= 0 ? 1 : grounds.found / others
  if (isVague(value)) return 'low'
  if (!isPlain(value)) return share >= copied_share_min ? 'medium' : 'low'
  if (share < grounds.share_min) return 'low'
  const isAmount = value.kind === 'money' && others >= amount_others_min
  return isAmount || isRare(grounds, others) ? 'medium' : 'low'
}

/** A word may name more than one record; a code names one. */
function isVague({ verdict, subject = '' }: CheckedValue): boolean {
  return verdict === 'other_subject' && !code.test(subject)
}

function isPlain({ kind, verdict, instead }: CheckedValue): boolean {
  return verdict === 'unsupported' && instead === undefined && !copied.has(kind)
}

function isRare({ derived, unexplained_rate, confirmed_share }: Grounds, others: number): boolean {
  if (confirmed_share !== null && confirmed_share >= trusted_min) return true
  // An answer that calculates may have calculated this value too.
  if (unexplained_rate === null || derived > 0) return false
  return others >= others_min && unexplained_rate <= rare_rate_max
}
