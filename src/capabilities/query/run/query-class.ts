import { conjunctsOf } from '../compile/conditions.ts'
import type { Query } from '../language/check-query.ts'
import type { QueryClass } from './contract.ts'

/** `point` looks something up by its id; what is behind `or` and `not` does not. */
export function classOf({ where }: Pick<Query, 'where'>): QueryClass {
  const isPoint = conjunctsOf(where).some(
    (filter) =>
      filter.kind === 'test' && filter.op === 'eq' && pointFields.has(filter.reference.name),
  )
  return isPoint ? 'point' : 'list'
}

const pointFields: ReadonlySet<string> = new Set([
  'trace_id',
  'observation_id',
  'task_id',
  'event_id',
  'link_id',
  'correlation_value',
])
