import type { Evidence, Value } from '../../values/index.ts'
import type { ColumnClass } from './column-class.ts'

/** A value that the agent saw. `column` and `record` are set in tables and JSON. */
export type Seen = {
  value: Value
  evidence: Evidence
  column?: string
  record?: string
  /** The objects around its object, from the inside. */
  ancestors?: readonly string[]
  /** Class of a number without unit by the name of its column. */
  columnClass?: ColumnClass | undefined
  /** Whether "each", "per night" and the like follow: it multiplies. */
  isRate?: boolean
  /** Its column by name and its object, or its line. */
  scopes: readonly string[]
  /** The words in the other cells of the record: what the column can be grouped by. */
  labels?: readonly string[]
  /** Those of the labels that can be the name of the record, in lower case. */
  names?: readonly string[]
}

/** Maximum lists and groups of cells that are kept for one count. */
export const counts_max = 20

/** Minimum characters of a name. */
const label_chars_min = 3
/** Words that say a state, not a name. */
const states =
  /^(?:true|false|null|none|yes|no|open|closed|active|inactive|pending|paid|ok|error|new|done|available|standard|economy|business|cancelled|confirmed|shipped|delivered|on time|scheduled)$/

/** Returns the labels that can be a name of a record, in lower case. */
export function namesIn(labels: readonly string[]): string[] {
  return labels
    .map((label) => label.replaceAll('"', '').trim().toLowerCase())
    .filter((name) => name.length >= label_chars_min && !states.test(name))
}
