import type { Text } from '../../../../model/ingest-records.ts'
import type { OtlpValue } from '../contract.ts'
import type { MappingLimits } from './contracts/contract-shape.ts'
import { cutText, textOf } from './value-text.ts'

/** The attributes and labels of one row during collection. */
export type RowAttributes = {
  attributes: Text[]
  metadata: Text[]
  /** Number of cut values. */
  cut: number
  /** Number of dropped keys, and the names of a few. */
  dropped: number
  dropped_names: string
}

/** Maximum names of dropped keys in a row, and the length of each. */
const names_max = 5
const name_chars_max = 80

export function addAttribute(
  row: RowAttributes,
  key: string,
  value: OtlpValue,
  limits: MappingLimits,
): void {
  if (row.attributes.length < limits.attributes_max * 2) {
    row.attributes.push(key, boundedText(row, value, limits.attribute_bytes_max))
  } else drop(row, key)
}

export function addMetadata(
  row: RowAttributes,
  key: string,
  value: OtlpValue,
  limits: MappingLimits,
): void {
  if (row.metadata.length < limits.attributes_max * 2) {
    row.metadata.push(key, boundedText(row, value, limits.attribute_bytes_max))
  } else drop(row, key)
}

function boundedText(row: RowAttributes, value: OtlpValue, bytes_max: number): Text {
  const text = textOf(value)
  if (text.length < 64) return text
  const kept = cutText(text, bytes_max)
  if (kept !== text) row.cut++
  return kept
}

/** Counts a dropped key, and adds its name while there are few. */
export function drop(row: RowAttributes, key: string): void {
  row.dropped++
  if (row.dropped > names_max) return
  const name = key.slice(0, name_chars_max)
  row.dropped_names = row.dropped === 1 ? name : `${row.dropped_names},${name}`
}

/** Adds attributes that report cut and dropped values, if there are any. */
export function reportLosses(row: RowAttributes): void {
  if (row.cut > 0) row.attributes.push('mapping.cut', `${row.cut}`)
  if (row.dropped === 0) return
  row.attributes.push('mapping.dropped', `${row.dropped}`)
  row.attributes.push('mapping.dropped_keys', row.dropped_names)
}
