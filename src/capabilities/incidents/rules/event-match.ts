import { matchesGlob } from '../../../kernel/glob.ts'
import { type Severity, severities } from '../../../model/severity.ts'
import type { EventMatch } from './condition-kinds.ts'
import type { Dimension, Rule } from './rule.ts'

/** A finding, a verification or an entry of the ledger. Only findings have all fields. */
export type EventRecord = {
  source: EventMatch['source']
  kind?: string | undefined
  type?: string | undefined
  severity?: Severity | undefined
  confidence?: number | undefined
}

/** Returns whether a record matches all fields of an event rule. A missing value never matches. */
export function matchesEvent(match: EventMatch, record: EventRecord): boolean {
  const { kinds, types, min_severity, min_confidence } = match
  const { source, kind, type, severity, confidence } = record
  if (source !== match.source) return false
  if (kinds !== undefined && !kinds.some((one) => one === kind)) return false
  if (types !== undefined && !types.some((one) => one === type)) return false
  if (min_severity !== undefined && rankOf(severity) < rankOf(min_severity)) return false
  return min_confidence === undefined || (confidence ?? -1) >= min_confidence
}

function rankOf(severity: Severity | undefined): number {
  return severity === undefined ? -1 : severities.indexOf(severity)
}

/**
 * Returns whether a selector selects a row: for each of its dimensions, a glob matches a value of the
 * row.
 */
export function isSelected(
  selector: Rule['selector'],
  values: Readonly<Partial<Record<Dimension, readonly string[]>>>,
): boolean {
  return Object.entries(selector).every(([dimension, globs]) => {
    const of = values[dimension as Dimension] ?? []
    return globs?.some((glob) => of.some((value) => matchesGlob(value, glob))) ?? true
  })
}
