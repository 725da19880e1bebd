import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { call } from '../../api/client.ts'
import type { AggregateQuery } from '../../api/schema.gen.d.ts'
import { useProjectId } from '../../session/project.ts'
import type { Bucket } from './findings-chart.ts'
import { type FindingsFilter, whereOf, windowOf } from './findings-query.ts'

type Asked = Pick<AggregateQuery, 'measures'> & Partial<Pick<AggregateQuery, 'group_by' | 'limit'>>

/** Reads an aggregate of findings. The rows of the range before stay until the new ones are read. */
function useAggregate(filter: FindingsFilter, asked: Asked) {
  const project_id = useProjectId()
  const body = {
    entity: 'findings' as const,
    window: windowOf(filter),
    where: whereOf(filter),
    // A range of a link may be longer than the API reads by default.
    allow_wide: true,
    include_restored: false,
    limit: 50,
    group_by: [],
    fill: false,
    ...asked,
  }
  return useQuery({
    queryKey: ['findings', project_id, body],
    queryFn: async ({ signal }) => {
      const { data } = await call.POST('/api/v2/observability/query/aggregate', { body, signal })
      return { rows: data?.rows ?? [] }
    },
    placeholderData: keepPreviousData,
  })
}

const rows_max = 10_000

/** Reads the number of findings in each bucket and group. */
export function useFindingsOver(filter: FindingsFilter, bucket: Bucket) {
  return useAggregate(filter, {
    measures: [{ fn: 'count', as: 'n' }],
    group_by: [{ time_bucket: bucket.name }, filter.by],
    limit: rows_max,
  })
}

const measures: Asked['measures'] = [
  { fn: 'count', as: 'n' },
  { fn: 'count_distinct', field: 'task_id', as: 'tasks' },
  { fn: 'sum', field: 'wasted_cost_usd', as: 'cost' },
  { fn: 'sum', field: 'wasted_tokens', as: 'tokens' },
]

/** Reads the sums of all findings of the filter. */
export function useFindingsTotals(filter: FindingsFilter) {
  return useAggregate(filter, { measures })
}

/** Reads the sums by type, the most frequent first. */
export function useFindingsByType(filter: FindingsFilter) {
  return useAggregate(filter, { measures, group_by: ['kind', 'type'], limit: 200 })
}
