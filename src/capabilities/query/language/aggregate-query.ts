import { z } from 'zod'
import { record } from '../../../model/named-schemas.ts'
import { type Bucket, readBucket } from './buckets.ts'
import { catalogue } from './catalogue.ts'
import { type Faults, nearNames, unexpected } from './faults.ts'
import { type Entity, type FieldType, findField, type Reference } from './field.ts'
import { type Filter, readFilter } from './filter.ts'
import { queryLimits } from './limits.ts'
import { checkMeasures, type Measure, measureBody } from './measures.ts'
import {
  checkBody,
  checkRestored,
  checkWindow,
  filterBody,
  filterContext,
  type QueryWindow,
  type RestoredScope,
  sharedBody,
  sortKeyBody,
} from './page-query.ts'

const timeBucketBody = record('TimeBucket', {
  time_bucket: z
    .string()
    .max(20)
    .describe('Width: a number with `s`, `m`, `h`, `d` or `w`. Weeks begin on Monday.'),
  time_zone: z
    .string()
    .max(64)
    .optional()
    .describe(
      'Name of the IANA database, such as Europe/Berlin, for buckets of days and weeks. They begin at midnight there, so a day has 23 or 25 hours where a clock changes. UTC by default.',
    ),
})

/** The body of an aggregate query, before its fields are looked up. */
export const aggregateBody = record('AggregateQuery', {
  ...sharedBody,
  measures: z.array(measureBody).min(1).max(queryLimits.measures_max),
  group_by: z
    .array(z.union([z.string().max(300), timeBucketBody]).meta({ id: 'GroupBy' }))
    .max(queryLimits.group_by_max)
    .default([])
    .describe(
      'Fields, and at most one time bucket: `{time_bucket: "5m"}`, or days of a time zone: `{time_bucket: "1d", time_zone: "Europe/Berlin"}`.',
    ),
  having: filterBody.optional().describe('Filter over the measures, by name.'),
  order_by: z.array(sortKeyBody).max(queryLimits.order_by_max).optional(),
  fill: z.boolean().default(false).describe('Includes buckets without records.'),
  top_n: z
    .strictObject({
      n: z.int().min(1).max(queryLimits.top_max),
      by: z.string().max(64).describe('Name of the measure that ranks the groups.'),
      other: z.boolean().default(true).describe('Combines all other groups in one row.'),
    })
    .meta({ id: 'TopGroups' })
    .optional(),
})

type AggregateBody = z.output<typeof aggregateBody>

/** A column that groups records: a field, or a bucket of time. */
export type Group = { kind: 'field'; name: string; reference: Reference } | Bucket

/** A valid aggregate query. */
export type Aggregate = {
  entity: Entity
  window: QueryWindow
  where: Filter | undefined
  groups: readonly Group[]
  measures: readonly Measure[]
  /** A filter over the names of measures. */
  having: Filter | undefined
  /** Names of groups and measures. */
  order_by: readonly { name: string; direction: 'asc' | 'desc' }[]
  limit: number
  fill: boolean
  top_n: { n: number; by: string; other: boolean } | undefined
} & RestoredScope

/** Looks up the names in a body. Returns undefined, and adds faults, when one is not valid. */
function checkAggregate(body: AggregateBody, faults: Faults): Aggregate | undefined {
  const entity = catalogue[body.entity]
  const context = filterContext(entity, faults)
  const window = checkWindow(body, faults)
  const where = body.where === undefined ? undefined : readFilter(body.where, ['where'], context)
  const groups = readGroups(entity, body, { window, faults })
  const measures = checkMeasures(entity, body.measures, faults)
  const names = [...groups, ...measures].map(({ name }) => name)
  checkUniqueNames(names, groups.length, faults)
  const resolve = (name: string, path: readonly (string | number)[]) =>
    findMeasure(measures, { name, path }, faults)
  const having =
    body.having === undefined
      ? undefined
      : readFilter(body.having, ['having'], { ...context, resolve })
  const order_by = (body.order_by ?? []).map(({ field, direction }, at, all) => {
    if (all.findIndex((each) => each.field === field) < at) {
      faults.add(['order_by', at, 'field'], unexpected(field, 'each column once'))
    }
    if (!names.includes(field)) faults.add(['order_by', at, 'field'], unknownName(field, names))
    return { name: field, direction }
  })
  checkFill(body, groups, faults)
  const top_n = checkTopGroups(body, { groups, measures }, faults)
  const { limit, fill } = body
  const include_restored = checkRestored(entity, body, faults)
  if (!window || faults.list.length > 0) return undefined
  const asked = { entity, window, where, groups, measures, having, order_by, limit, fill, top_n }
  return { ...asked, include_restored }
}

function unknownName(given: string, names: readonly string[]): string {
  const [near] = nearNames(given, names)
  return unexpected(given, `${near ? `${near}? One of ` : ''}${names.join(', ')}`)
}

function checkUniqueNames(names: readonly string[], groups: number, faults: Faults): void {
  for (const [at, name] of names.entries()) {
    if (name !== 'other' && names.indexOf(name) === at) continue
    const path = at < groups ? ['group_by', at] : ['measures', at - groups, 'as']
    faults.add(path, unexpected(name, 'a name that no other column has, and not "other"'))
  }
}

const groupTypes: readonly FieldType[] = ['text', 'uuid', 'bool', 'integer']

/** Returns whether records can be grouped by a field. */
export function isGroupable({ field, map_key }: Pick<Reference, 'field' | 'map_key'>): boolean {
  if (field.content && map_key === undefined) return false
  return groupTypes.includes(field.type) && !field.nullable
}

function readGroups(
  entity: Entity,
  { group_by }: AggregateBody,
  { window, faults }: { window: QueryWindow | undefined; faults: Faults },
): Group[] {
  const groups: Group[] = []
  for (const [at, given] of group_by.entries()) {
    const path = ['group_by', at]
    if (typeof given !== 'string') {
      const bucket = readBucket(given, { path, window, faults })
      if (bucket) groups.push(bucket)
      continue
    }
    const reference = findField(entity, given, path, faults)
    if (!reference) continue
    if (!isGroupable(reference)) {
      faults.add(path, unexpected(given, 'a field of text or whole numbers that are never unknown'))
    }
    groups.push({ kind: 'field', name: given, reference })
  }
  return groups
}

/** Finds a measure by name, as a nullable field that `having` can compare. */
function findMeasure(
  measures: readonly Measure[],
  { name, path }: { name: string; path: readonly (string | number)[] },
  faults: Faults,
): Reference | undefined {
  const measure = measures.find((each) => each.name === name)
  const names = measures.map((each) => each.name)
  if (!measure) return faults.add(path, unknownName(name, names))
  const { type } = measure
  return { name, field: { name, type, description: '', nullable: true } }
}

function checkFill(body: AggregateBody, groups: readonly Group[], faults: Faults): void {
  if (!body.fill) return
  if (!groups.some(({ kind }) => kind === 'bucket')) {
    faults.add(['fill'], 'expected a time_bucket in group_by')
  }
  if (body.having !== undefined || (body.order_by ?? []).length > 0) {
    faults.add(['fill'], 'expected neither having nor order_by beside it')
  }
}

function checkTopGroups(
  { top_n, having }: AggregateBody,
  { groups, measures }: { groups: readonly Group[]; measures: readonly Measure[] },
  faults: Faults,
): Aggregate['top_n'] {
  if (top_n === undefined) return undefined
  if (!groups.some(({ kind }) => kind === 'field')) {
    return faults.add(['top_n'], 'expected a field in group_by')
  }
  if (having !== undefined) return faults.add(['top_n'], 'expected no having beside it')
  const names = measures.map(({ name }) => name)
  if (!names.includes(top_n.by)) {
    return faults.add(['top_n', 'by'], unknownName(top_n.by, names))
  }
  return top_n
}

/** Parses the body of an aggregate query; see `querySchema`. */
export const aggregateSchema = aggregateBody.transform(
  (body, context): Aggregate =>
    checkBody((faults) => checkAggregate(body, faults), context) ?? z.NEVER,
)
