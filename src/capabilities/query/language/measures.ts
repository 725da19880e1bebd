import { z } from 'zod'
import { expected } from '../../../model/list-query.ts'
import { record } from '../../../model/named-schemas.ts'
import { type Faults, unexpected } from './faults.ts'
import { type Entity, type FieldType, findField, type Reference } from './field.ts'

/** Measures of a group of records. `rate` is per second; `error_rate` is a share, 0 to 1. */
export const measureFunctions = [
  'count',
  'count_distinct',
  'sum',
  'avg',
  'min',
  'max',
  'p50',
  'p90',
  'p95',
  'p99',
  'rate',
  'error_rate',
] as const

export type MeasureFunction = (typeof measureFunctions)[number]

export const measureBody = record('Measure', {
  fn: z
    .enum(measureFunctions, { error: expected(`one of ${measureFunctions.join(', ')}`) })
    .meta({ id: 'MeasureFunction' }),
  field: z
    .string()
    .max(300)
    .optional()
    .describe('Field to measure; `count` and `error_rate` take none.'),
  as: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,63}$/, { error: expected('a name like p95_ms') })
    .meta({ id: 'ColumnName' })
    .describe('Name of the column in the answer.'),
})

type MeasureBody = z.output<typeof measureBody>

/** A valid measure; `type` is the type of its values. */
export type Measure = {
  name: string
  fn: MeasureFunction
  reference: Reference | undefined
  type: FieldType
}

const numbers: readonly FieldType[] = ['integer', 'decimal', 'float']

const countable: readonly FieldType[] = ['text', 'uuid', 'integer', 'decimal', 'bool', 'time']

/** The types of field that each function takes; null: no field. Without one, `rate` counts. */
export const fieldTypes: Readonly<Record<MeasureFunction, readonly FieldType[] | null>> = {
  count: null,
  error_rate: null,
  rate: numbers,
  count_distinct: countable,
  sum: numbers,
  avg: numbers,
  min: [...numbers, 'time'],
  max: [...numbers, 'time'],
  p50: numbers,
  p90: numbers,
  p95: numbers,
  p99: numbers,
}

/** Looks up the fields of measures. Measures a map's key as a number, where its text is one. */
export function checkMeasures(
  entity: Entity,
  given: readonly MeasureBody[],
  faults: Faults,
): Measure[] {
  return given.flatMap((each, at) => checkMeasure(entity, each, { at, faults }) ?? [])
}

function checkMeasure(
  entity: Entity,
  { fn, field, as }: MeasureBody,
  { at, faults }: { at: number; faults: Faults },
): Measure | undefined {
  const path = ['measures', at, 'field']
  if (fn === 'error_rate' && entity.error_field === undefined) {
    faults.add(['measures', at, 'fn'], `expected another function: no ${entity.name} are errors`)
  }
  const allowed = fieldTypes[fn]
  if (field === undefined) {
    if (allowed !== null && fn !== 'rate') faults.add(path, `expected the field to take ${fn} of`)
    return { name: as, fn, reference: undefined, type: valueType(fn, undefined) }
  }
  if (allowed === null) faults.add(path, unexpected(field, `no field: ${fn} takes none`))
  const reference = findField(entity, field, path, faults)
  if (!reference) return undefined
  const measured = numericKey(reference, fn)
  const { type } = measured.field
  if (allowed?.includes(type) === false) {
    faults.add(path, unexpected(field, `a field of type ${allowed.join(', ')}; it is ${type}`))
  }
  return { name: as, fn, reference: measured, type: valueType(fn, type) }
}

/** Returns a map's key as a number: a column of its own, beside the text. */
function numericKey(reference: Reference, fn: MeasureFunction): Reference {
  if (reference.map_key === undefined || fn === 'count_distinct') return reference
  const field = { ...reference.field, type: 'float', nullable: true } as const
  return { ...reference, name: `${reference.name} as number`, field }
}

function valueType(fn: MeasureFunction, of: FieldType | undefined): FieldType {
  if (fn === 'count' || fn === 'count_distinct') return 'integer'
  if (fn === 'rate' || fn === 'error_rate' || of === undefined) return 'float'
  if (of === 'decimal' || fn === 'min' || fn === 'max' || fn === 'sum') return of
  return 'float'
}
