import { z } from 'zod'
import { record } from '../../../model/named-schemas.ts'
import type { Column } from '../compile/statement.ts'
import type { QueryStats } from './contract.ts'

/** The columns of an answer as it shows them. */
export function shownColumns(columns: readonly Column[]) {
  return columns.map(({ name, type }) => ({ name, type }))
}

/** Durations are shown to the microsecond. */
export function shownStats({ rows_read, bytes_read, duration_ms }: QueryStats) {
  return { rows_read, bytes_read, duration_ms: Math.round(duration_ms * 1000) / 1000 }
}

/** What every answer of a store has. */
export const answerFields = {
  rows: z
    .array(z.record(z.string(), z.unknown()))
    .describe('By the names of the columns. Times are ISO 8601, money is text, unknown is null.'),
  columns: z
    .array(record('QueryColumn', { name: z.string(), type: z.string() }))
    .describe('In the order in which they were asked for.'),
  served_by: z.enum(['clickhouse', 'postgres']).describe('The store that answered.'),
  fallback_reason: z
    .string()
    .nullable()
    .describe('Why another store answered than the one that is asked first; null when it did.'),
  stats: record('QueryStats', {
    rows_read: z.int().nullable().describe('Null: the store does not tell.'),
    bytes_read: z
      .int()
      .nullable()
      .describe('As they are in memory. Null: the store does not tell.'),
    duration_ms: z.number().describe('From the question to the store until its answer.'),
  }),
}

/** What POST query answers. */
export const pageReply = z
  .strictObject({
    ...answerFields,
    next_cursor: z.string().nullable().describe('Of the next page; null on the last one.'),
  })
  .meta({ id: 'QueryPage' })

/** What POST query/aggregate answers. */
export const aggregateReply = z
  .strictObject({
    ...answerFields,
    truncated: z
      .boolean()
      .describe('There are more groups than the limit. With `fill`, whole buckets are left out.'),
  })
  .meta({ id: 'AggregateAnswer' })
