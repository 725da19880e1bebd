import type { Aggregate, Group } from '../language/check-aggregate.ts'
import type { Entity } from '../language/field.ts'
import type { Measure } from '../language/measures.ts'
import type { Reference } from '../language/reference.ts'
import type { Scope } from './conditions.ts'
import type { Expression } from './dialect.ts'

/** The fields that a measure reads. */
export function measuredReferences({ fn, reference }: Measure, entity: Entity): Reference[] {
  if (reference && isSum(fn)) return summandsOf(reference, entity)
  if (reference) return [reference]
  return fn === 'error_rate' ? [errorReference(entity)] : []
}

function isSum(fn: Measure['fn']): boolean {
  return fn === 'sum' || fn === 'rate'
}

/** A sum of sums is the same, and spares telling for each record what is known of it. */
function summandsOf(reference: Reference, { name: entity, fields }: Entity): Reference[] {
  const { sum_of } = reference.field
  if (sum_of === undefined || reference.map_key !== undefined) return [reference]
  return sum_of.map((name) => {
    const field = fields[name]
    if (field === undefined) throw new RangeError(`${entity} have no ${name}`)
    return { name, field }
  })
}

function sumOf(reference: Reference, { scope, aggregate }: About): string {
  const parts = summandsOf(reference, aggregate.entity).map((each) =>
    scope.dialect.measure('sum', scope.expression(each)),
  )
  return parts.length === 1 ? (parts[0] ?? '') : `(${parts.join(' + ')})`
}

function errorReference(entity: Entity): Reference {
  const field = entity.fields[entity.error_field ?? '']
  if (field === undefined) throw new RangeError(`no ${entity.name} are errors`)
  return { name: field.name, field }
}

type About = { scope: Scope; aggregate: Aggregate; bucket: Expression | undefined }

/** A measure of a group in SQL. Null where nothing is known, but 0 for counts, sums and rates. */
export function measureExpression(measure: Measure, about: About): Expression {
  const { fn, reference, type } = measure
  const { dialect, expression } = about.scope
  switch (fn) {
    case 'count':
      return { sql: 'count(*)', type }
    case 'error_rate': {
      const { sql } = expression(errorReference(about.aggregate.entity))
      return { sql: dialect.share(sql), type }
    }
    case 'sum':
      if (reference === undefined) throw new RangeError('sum takes a field')
      return { sql: sumOf(reference, about), type }
    case 'rate':
      return { sql: rateOf(reference, about), type }
    default:
      if (reference === undefined) throw new RangeError(`${fn} takes a field`)
      return { sql: dialect.measure(fn, expression(reference)), type }
  }
}

/**
 * A second's share: of the bucket, as far as it is in the window, or of the window.
 */
function rateOf(reference: Reference | undefined, about: About): string {
  const { scope, aggregate, bucket } = about
  const { dialect, params } = scope
  const amount = reference ? sumOf(reference, about) : 'count(*)'
  const from = dialect.integer(params, aggregate.window.from)
  const to = dialect.integer(params, aggregate.window.to)
  const width = aggregate.groups.find(({ kind }) => kind === 'bucket')
  if (bucket === undefined || width?.kind !== 'bucket') {
    return `${dialect.quotient(amount, `${to} - ${from}`)} * 1000000000`
  }
  const end = `${bucket.sql} + ${dialect.integer(params, width.width_ns)}`
  const covered = `least(${end}, ${to}) - greatest(${bucket.sql}, ${from})`
  return `${dialect.quotient(amount, covered)} * 1000000000`
}

/** The start of a record's bucket in nanoseconds. Buckets are counted from 1970, weeks from 1969. */
export function bucketExpression(
  group: Extract<Group, { kind: 'bucket' }>,
  entity: Entity,
  { dialect, params, expression }: Scope,
): Expression {
  const field = entity.fields[entity.time]
  if (field === undefined) throw new RangeError(`${entity.name} have no ${entity.time}`)
  const time = dialect.nanoseconds(expression({ name: entity.time, field }).sql)
  const width = dialect.integer(params, group.width_ns)
  const offset = dialect.integer(params, group.offset_ns)
  return { sql: dialect.floor(time, { width, offset }), type: 'integer' }
}
