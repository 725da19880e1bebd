import type { Aggregate } from '../language/aggregate-query.ts'
import type { Bucket, BucketRun } from '../language/buckets.ts'
import { type Entity, type Reference, referenceTo } from '../language/field.ts'
import type { Measure } from '../language/measures.ts'
import {
  compileAll,
  conditionOf,
  exactWindow,
  type Frame,
  narrowingOf,
  referencesOf,
  type Scope,
  sourceOf,
  splitFilter,
} from './conditions.ts'
import type { Dialect, Expression } from './dialect.ts'
import { recordsOf } from './rows.ts'
import type { Column, Statement } from './statement.ts'

/** The column that is true for the group of all records outside of the top groups. */
const otherColumn = 'other'

/**
 * Compiles an aggregate query to one statement of the dialect's store; see `compileQuery`. It
 * selects one group more than the limit, so that the caller knows whether groups are left out.
 */
export function compileAggregate(
  aggregate: Aggregate,
  { project_id, ...given }: { project_id: string; dialect: Dialect },
): Statement {
  const { entity, window, limit, slices } = aggregate
  const dialect = given.dialect.forSource(sourceOf(entity, given.dialect))
  const frame: Frame = { dialect, params: dialect.params(), project_id, entity, window, slices }
  const records = recordsFor(aggregate, frame)
  const { columns: groups, from, where } = groupsOf(aggregate, records)
  const measures = measuresOf(aggregate, records.scope, groups)
  const shown = [...groups, ...measures]
  const keys = [...groups.values()].map(({ sql }) => sql)
  const list = shown.map(([, expression], at) => `${dialect.output(expression)} AS c${at}`)
  const having = aggregate.having
    ? `\nHAVING ${conditionOf(aggregate.having, measureScope(records.scope, measures))}`
    : ''
  return {
    text: `SELECT ${list.join(',\n  ')}
FROM (
  ${from}
) AS record${whereText(where)}${keys.length > 0 ? `\nGROUP BY ${keys.join(', ')}` : ''}${having}
ORDER BY ${orderOf(aggregate, new Map(shown), dialect)}
LIMIT ${dialect.integer(frame.params, limit + 1)}`,
    params: frame.params.values,
    columns: shown.map(
      ([name, { type }], at): Column => ({
        alias: `c${at}`,
        name,
        type: name === 'time_bucket' ? 'time' : type,
      }),
    ),
    keys: [],
    narrowed: records.narrowed,
  }
}

type Expressions = ReadonlyMap<string, Expression>

type Records = { text: string; scope: Scope; where: readonly string[]; narrowed: boolean }

function recordsFor(aggregate: Aggregate, frame: Frame): Records {
  const { entity } = frame
  const { inside, late } = splitFilter(aggregate)
  const all = [...exactWindow(frame, aggregate.window), ...late]
  const time = entity.fields[entity.time]
  const references: Reference[] = [
    ...aggregate.groups.flatMap((group) => (group.kind === 'field' ? [group.reference] : [])),
    ...(time && aggregate.groups.some(({ kind }) => kind === 'bucket')
      ? [{ name: entity.time, field: time }]
      : []),
    ...aggregate.measures.flatMap((measure) => measuredReferences(measure, entity)),
    ...all.flatMap(referencesOf),
  ]
  const narrowing = narrowingOf(frame, late)
  const request = { references, inside, narrowing, direction: 'asc', whole: true } as const
  const { text, scope } = recordsOf(frame, request)
  return { text, scope, where: compileAll(all, scope), narrowed: narrowing.length > 0 }
}

type Grouped = { columns: Expressions; from: string; where: readonly string[] }

function groupsOf(aggregate: Aggregate, records: Records): Grouped {
  const { scope, text, where } = records
  const columns = new Map<string, Expression>()
  for (const group of aggregate.groups) {
    const expression =
      group.kind === 'field'
        ? scope.expression(group.reference)
        : bucketStart(group, aggregate.entity, scope)
    columns.set(group.name, expression)
  }
  if (aggregate.top_n === undefined) return { columns, from: text, where }
  return topGroupsOf(aggregate, records, columns)
}

/** Groups by field only within the top groups. All other groups become one, or are left out. */
function topGroupsOf(aggregate: Aggregate, records: Records, columns: Expressions): Grouped {
  const { scope, text, where } = records
  const { top_n, groups } = aggregate
  if (top_n === undefined) return { columns, from: text, where }
  const fields = groups.filter(({ kind }) => kind === 'field').map(({ name }) => name)
  const ranking = fields.flatMap((name) => columns.get(name) ?? [])
  const keys = ranking.map(({ sql }) => sql).join(', ')
  const ties = ranking.map((each) => scope.dialect.groupOrder(each, 'asc')).join(', ')
  const ranked = aggregate.measures.find(({ name }) => name === top_n.by)
  if (ranked === undefined) throw new RangeError(`no measure is named ${top_n.by}`)
  const { sql: rank } = measureExpression(ranked, { scope, aggregate, bucket: undefined })
  const top = `SELECT ${keys} FROM (${text}) AS record${whereText(where)}
    GROUP BY ${keys} ORDER BY ${rank} DESC NULLS LAST, ${ties}
    LIMIT ${scope.dialect.integer(scope.params, top_n.n)}`
  const from = `SELECT *, (${keys}) ${scope.dialect.in_subquery} (${top}) AS in_top
  FROM (${text}) AS record${whereText(where)}`
  const shown = new Map<string, Expression>()
  for (const [name, expression] of columns) {
    const sql = `CASE WHEN in_top THEN ${expression.sql} END`
    shown.set(name, fields.includes(name) ? { ...expression, sql } : expression)
  }
  shown.set(otherColumn, { sql: '(NOT in_top)', type: 'bool' })
  return { columns: shown, from, where: top_n.other ? [] : ['in_top'] }
}

function measuresOf(aggregate: Aggregate, scope: Scope, groups: Expressions): Expressions {
  const bucket = groups.get('time_bucket')
  return new Map(
    aggregate.measures.map((measure) => [
      measure.name,
      measureExpression(measure, { scope, aggregate, bucket }),
    ]),
  )
}

function measureScope(scope: Scope, measures: Expressions): Scope {
  return {
    ...scope,
    expression: ({ name, field }) => {
      const measure = measures.get(name)
      if (measure === undefined) throw new RangeError(`no measure is named ${name}`)
      return { sql: measure.sql, type: field.type, nullable: true }
    },
  }
}

function whereText(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : `\nWHERE ${conditions.join('\n  AND ')}`
}

/** Orders by time, else by the first measure, largest first. Groups break ties. */
function orderOf(aggregate: Aggregate, columns: Expressions, dialect: Dialect): string {
  const [first] = aggregate.measures
  const groups = aggregate.groups.map(({ name }) => name)
  const keys = new Map(aggregate.order_by.map(({ name, direction }) => [name, direction]))
  const bucketed = groups.includes('time_bucket')
  if (keys.size === 0 && bucketed) keys.set('time_bucket', 'asc')
  if (keys.size === 0 && first) keys.set(first.name, 'desc')
  for (const name of [...groups, ...(aggregate.top_n ? [otherColumn] : [])]) {
    if (!keys.has(name)) keys.set(name, 'asc')
  }
  return [...keys]
    .flatMap(([name, direction]) => {
      const expression = columns.get(name)
      return expression === undefined ? [] : dialect.groupOrder(expression, direction)
    })
    .join(', ')
}

/** Returns the fields that a measure reads. */
function measuredReferences({ fn, reference }: Measure, entity: Entity): Reference[] {
  if (reference && isSum(fn)) return summandsOf(reference, entity)
  if (reference) return [reference]
  return fn === 'error_rate' ? [errorReference(entity)] : []
}

function isSum(fn: Measure['fn']): boolean {
  return fn === 'sum' || fn === 'rate'
}

/** Returns the fields of a sum. Summing the summands' sums avoids a null check for each record. */
function summandsOf(reference: Reference, entity: Entity): Reference[] {
  const { sum_of } = reference.field
  if (sum_of === undefined || reference.map_key !== undefined) return [reference]
  return sum_of.map((name) => referenceTo(entity, name))
}

function sumOf(reference: Reference, { scope, aggregate }: MeasureContext): string {
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

type MeasureContext = { scope: Scope; aggregate: Aggregate; bucket: Expression | undefined }

/** Compiles a measure of a group. Without values it is 0 for counts, sums and rates, else null. */
function measureExpression(measure: Measure, context: MeasureContext): Expression {
  const { fn, reference, type } = measure
  const { dialect, expression } = context.scope
  switch (fn) {
    case 'count':
      return { sql: 'count(*)', type }
    case 'error_rate': {
      const { sql } = expression(errorReference(context.aggregate.entity))
      return { sql: dialect.share(sql), type }
    }
    case 'sum':
      if (reference === undefined) throw new RangeError('sum takes a field')
      return { sql: sumOf(reference, context), type }
    case 'rate':
      return { sql: rateOf(reference, context), type }
    default:
      if (reference === undefined) throw new RangeError(`${fn} takes a field`)
      return { sql: dialect.measure(fn, expression(reference)), type }
  }
}

/** Compiles an amount per second: of the bucket's part inside the window, or of the window. */
function rateOf(reference: Reference | undefined, context: MeasureContext): string {
  const { scope, aggregate, bucket } = context
  const { dialect, params } = scope
  const amount = reference ? sumOf(reference, context) : 'count(*)'
  const from = dialect.integer(params, aggregate.window.from)
  const to = dialect.integer(params, aggregate.window.to)
  const width = aggregate.groups.find(({ kind }) => kind === 'bucket')
  if (bucket === undefined || width?.kind !== 'bucket') {
    return `${dialect.quotient(amount, `${to} - ${from}`)} * 1000000000`
  }
  const end = bucketEnd(width, bucket.sql, scope)
  const covered = `least(${end}, ${to}) - greatest(${bucket.sql}, ${from})`
  return `${dialect.quotient(amount, covered)} * 1000000000`
}

/**
 * Compiles the start of a record's bucket, in nanoseconds; weeks count from a Monday in 1969. The
 * runs of a zone are computed here and not by the stores, whose time zone databases may differ.
 */
function bucketStart(
  { width_ns, offset_ns, zone }: Bucket,
  entity: Entity,
  { dialect, params, expression }: Scope,
): Expression {
  const time = dialect.nanoseconds(expression(referenceTo(entity, entity.time)).sql)
  const floor = (width: bigint, offset: bigint) =>
    dialect.floor(time, {
      width: dialect.integer(params, width),
      offset: dialect.integer(params, offset),
    })
  const sql =
    zone === undefined
      ? floor(width_ns, offset_ns)
      : byRun(zone.runs, { time, dialect, params }, (run) => floor(run.width_ns, run.from))
  return { sql, type: 'integer' }
}

/** Compiles the end of the bucket that begins at `start`, in nanoseconds. */
function bucketEnd({ width_ns, zone }: Bucket, start: string, { dialect, params }: Scope): string {
  const after = (width: bigint) => `${start} + ${dialect.integer(params, width)}`
  if (zone === undefined) return after(width_ns)
  return byRun(zone.runs, { time: start, dialect, params }, (run) => after(run.width_ns))
}

/** Compiles the choice of the last run that begins at a time or before. */
function byRun(
  runs: readonly BucketRun[],
  { time, dialect, params }: Pick<Scope, 'dialect' | 'params'> & { time: string },
  compile: (run: BucketRun) => string,
): string {
  const [first, ...later] = runs
  if (first === undefined) throw new RangeError('a window has at least one bucket')
  const choices = later
    .toReversed()
    .map((run) => `WHEN ${time} >= ${dialect.integer(params, run.from)} THEN ${compile(run)}`)
  if (choices.length === 0) return compile(first)
  return `(CASE ${choices.join(' ')} ELSE ${compile(first)} END)`
}
