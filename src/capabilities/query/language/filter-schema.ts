import { z } from 'zod'
import { record } from '../../../model/named-schemas.ts'
import { queryLimits } from './limits.ts'
import { operators } from './operators.ts'

/**
 * The shape of a filter, for the OpenAPI document. `readFilter` reads filters: it also knows which
 * fields and operators an entity has.
 */
export const filterSchema: z.ZodType = z
  .lazy(() => z.union([fieldFilter, andFilter, orFilter, notFilter]))
  .meta({
    id: 'Filter',
    description: `At most ${queryLimits.depth_max} levels of and, or and not.`,
    examples: [{ field: 'status', op: 'eq', value: 'error' }],
  })

const fieldFilter = record('FieldFilter', {
  field: z.string().describe('A field of the entity, or `attributes.<key>`, `metadata.<key>`.'),
  op: z.enum(operators).meta({ id: 'FilterOperator' }),
  value: z.unknown().optional().describe('A list for `in` and `not_in`.'),
})
const andFilter = record('AndFilter', { and: z.array(filterSchema).min(1) })
const orFilter = record('OrFilter', { or: z.array(filterSchema).min(1) })
const notFilter = record('NotFilter', { not: filterSchema })
