import { z } from 'zod'
import { type Aggregate, checkAggregate } from './check-aggregate.ts'
import { checkQuery, type Query } from './check-query.ts'
import { collectFaults, type Faults } from './faults.ts'
import { aggregateBody, queryBody } from './query-body.ts'

/** A query as it came and as it was understood. */
export type AskedQuery = { query: Query; cursor: string | undefined }

/** The body of a query: JSON to a query whose every part holds, or faults that say what would. */
export const querySchema = queryBody.transform((body, context): AskedQuery => {
  const query = checked((faults) => checkQuery(body, faults), context)
  return query ? { query, cursor: body.cursor } : z.NEVER
})

/** The body of an aggregate query; see `querySchema`. */
export const aggregateSchema = aggregateBody.transform(
  (body, context): Aggregate =>
    checked((faults) => checkAggregate(body, faults), context) ?? z.NEVER,
)

function checked<T>(
  check: (faults: Faults) => T | undefined,
  context: z.core.$RefinementCtx,
): T | undefined {
  const faults = collectFaults()
  const result = check(faults)
  for (const { path, message } of faults.list) {
    context.addIssue({ code: 'custom', path, message })
  }
  return faults.list.length === 0 ? result : undefined
}
