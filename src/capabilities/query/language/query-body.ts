import { z } from 'zod'
import { expected } from '../../../model/list-query.ts'
import { documentedAs, record } from '../../../model/named-schemas.ts'
import { entityNames } from './catalogue.ts'
import { filterSchema } from './filter-schema.ts'
import { queryLimits } from './limits.ts'

const direction = z
  .enum(['asc', 'desc'], { error: expected('asc or desc') })
  .describe('`asc`: smallest or earliest first. What is unknown comes last either way.')

const sortKey = record('SortKey', {
  field: z.string().min(1).max(300).describe('A field of the entity.'),
  direction: direction.default('desc'),
})

const filter = documentedAs(z.unknown(), filterSchema)

/** From when to when records are asked for. */
export const queryWindow = record('QueryWindow', {
  from: z.string().describe('ISO 8601; from here on.'),
  to: z.string().describe('ISO 8601; before this.'),
})

const shared = {
  entity: z
    .enum(entityNames, { error: expected(`one of ${entityNames.join(', ')}`) })
    .meta({ id: 'QueryEntity' })
    .describe('What is asked for.'),
  window: queryWindow.describe(`At most ${queryLimits.window_days_max} days, unless allow_wide.`),
  allow_wide: z.boolean().default(false).describe('The window may be as long as it likes.'),
  where: filter.optional(),
  include_restored: z
    .boolean()
    .default(false)
    .describe(
      'Rows of restored slices too, until they expire. A row that is live as well counts once.',
    ),
  limit: z
    .int({ error: expected('a whole number') })
    .min(1, { error: expected(`1 to ${queryLimits.rows_max}`) })
    .max(queryLimits.rows_max, { error: expected(`1 to ${queryLimits.rows_max}`) })
    .default(queryLimits.rows_default)
    .describe('Rows of the answer.'),
}

/** The body of a query, before its fields are looked up. */
export const queryBody = record('Query', {
  ...shared,
  select: z
    .array(z.string().max(300))
    .min(1)
    .max(queryLimits.select_max)
    .optional()
    .describe('Fields of each row; all but large ones when left out.'),
  order_by: z.array(sortKey).max(queryLimits.order_by_max).optional(),
  cursor: z.string().min(1).max(20_000).optional().describe("A page's next_cursor."),
})
export type QueryBody = z.output<typeof queryBody>

/** What is measured of a group of records. */
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

const measure = record('Measure', {
  fn: z
    .enum(measureFunctions, { error: expected(`one of ${measureFunctions.join(', ')}`) })
    .meta({ id: 'MeasureFunction' }),
  field: z.string().max(300).optional(),
  as: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,63}$/, { error: expected('a name like p95_ms') })
    .meta({ id: 'ColumnName' })
    .describe('The name of the column.'),
})

/** The body of an aggregate query, before its fields are looked up. */
export const aggregateBody = record('AggregateQuery', {
  ...shared,
  measures: z.array(measure).min(1).max(queryLimits.measures_max),
  group_by: z
    .array(
      z
        .union([z.string().max(300), record('TimeBucket', { time_bucket: z.string().max(20) })])
        .meta({ id: 'GroupBy' }),
    )
    .max(queryLimits.group_by_max)
    .default([])
    .describe('Fields, and at most one `{time_bucket: "5m"}`.'),
  having: filter.optional().describe('A filter over measures, by their names.'),
  order_by: z.array(sortKey).max(queryLimits.order_by_max).optional(),
  fill: z.boolean().default(false).describe('Buckets without records are in the answer too.'),
  top_n: z
    .strictObject({
      n: z.int().min(1).max(queryLimits.top_max),
      by: z.string().max(64).describe('The measure that counts.'),
      other: z.boolean().default(true).describe('The other groups are summed up in one.'),
    })
    .meta({ id: 'TopGroups' })
    .optional(),
})
export type AggregateBody = z.output<typeof aggregateBody>
