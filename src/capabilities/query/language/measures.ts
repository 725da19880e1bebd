import { type Faults, unexpected } from './faults.ts'
import type { Entity, FieldType } from './field.ts'
import type { AggregateBody, MeasureFunction } from './query-body.ts'
import { type Reference, referenceOf } from './reference.ts'

/** A measure that holds for its entity; `type` is that of its values. */
export type Measure = {
  name: string
  fn: MeasureFunction
  reference: Reference | undefined
  type: FieldType
}

const numbers: readonly FieldType[] = ['integer', 'decimal', 'float']
const counted: readonly FieldType[] = ['text', 'uuid', 'integer', 'decimal', 'bool', 'time']

/** Which fields a function takes; null: none. `rate` counts when there is none. */
const takes: Readonly<Record<MeasureFunction, readonly FieldType[] | null>> = {
  count: null,
  error_rate: null,
  rate: numbers,
  count_distinct: counted,
  sum: numbers,
  avg: numbers,
  min: [...numbers, 'time'],
  max: [...numbers, 'time'],
  p50: numbers,
  p90: numbers,
  p95: numbers,
  p99: numbers,
}

/** Looks up the fields of measures. Keys of maps are measured as numbers, where they are some. */
export function checkMeasures(
  entity: Entity,
  given: AggregateBody['measures'],
  faults: Faults,
): Measure[] {
  return given.flatMap((each, at) => checkMeasure(entity, each, { at, faults }) ?? [])
}

function checkMeasure(
  entity: Entity,
  { fn, field, as }: AggregateBody['measures'][number],
  { at, faults }: { at: number; faults: Faults },
): Measure | undefined {
  const path = ['measures', at, 'field']
  if (fn === 'error_rate' && entity.error_field === undefined) {
    faults.add(['measures', at, 'fn'], `expected another function: no ${entity.name} are errors`)
  }
  const allowed = takes[fn]
  if (field === undefined) {
    if (allowed !== null && fn !== 'rate') faults.add(path, `expected the field to take ${fn} of`)
    return { name: as, fn, reference: undefined, type: typeOf(fn, undefined) }
  }
  if (allowed === null) faults.add(path, unexpected(field, `no field: ${fn} takes none`))
  const reference = referenceOf(entity, field, path, faults)
  if (!reference) return undefined
  const measured = numericKey(reference, fn)
  const { type } = measured.field
  if (allowed?.includes(type) === false) {
    faults.add(path, unexpected(field, `a field of type ${allowed.join(', ')}; it is ${type}`))
  }
  return { name: as, fn, reference: measured, type: typeOf(fn, type) }
}

/** A key of a map, told as a number; another column than its text. */
function numericKey(reference: Reference, fn: MeasureFunction): Reference {
  if (reference.map_key === undefined || fn === 'count_distinct') return reference
  const field = { ...reference.field, type: 'float', nullable: true } as const
  return { ...reference, name: `${reference.name} as number`, field }
}

function typeOf(fn: MeasureFunction, of: FieldType | undefined): FieldType {
  if (fn === 'count' || fn === 'count_distinct') return 'integer'
  if (fn === 'rate' || fn === 'error_rate' || of === undefined) return 'float'
  if (of === 'decimal' || fn === 'min' || fn === 'max' || fn === 'sum') return of
  return 'float'
}
