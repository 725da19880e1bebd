import type { FilterOperator, QueryFieldType } from '../../api/schema.gen.d.ts'

const numbers: readonly string[] = ['integer', 'float']

/** Returns whether an operator compares with a list. */
export function isListOperator(op: FilterOperator): boolean {
  return op === 'in' || op === 'not_in'
}

/** Reads what a person typed as a value of a type. What does not fit stays text, for the API's fault. */
export function readValue(text: string, type: QueryFieldType | undefined): unknown {
  if (type === undefined || !numbers.includes(type) || text.trim() === '') return text
  const number = Number(text)
  return Number.isFinite(number) ? number : text
}

/** Reads a list: one value a line. */
export function readValues(text: string, type: QueryFieldType | undefined): unknown[] {
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map((line) => readValue(line, type))
}

/** Writes a value as it is typed; undefined for objects, which have no field to type in. */
export function writeValue(value: unknown): string | undefined {
  if (value === undefined || value === null) return ''
  if (Array.isArray(value)) {
    const lines = value.map(writeValue)
    return lines.every((line) => line !== undefined) ? lines.join('\n') : undefined
  }
  return typeof value === 'object' ? undefined : String(value)
}

/** Returns the value to begin with after a change of the field or operator. */
export function firstValue(
  op: FilterOperator,
  type: QueryFieldType | undefined,
  before: unknown,
): unknown {
  if (op === 'exists') return true
  if (type === 'bool') return typeof before === 'boolean' ? before : true
  const kept = typeof before === 'boolean' || before === undefined ? '' : before
  if (isListOperator(op)) return Array.isArray(kept) ? kept : kept === '' ? [] : [kept]
  const text = writeValue(Array.isArray(kept) ? kept[0] : kept)
  return text === undefined ? kept : readValue(text, type)
}
