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
}
