import type { QueryEntity } from '../../api/schema.gen.d.ts'
import type { Body } from './body.ts'

/** Columns that are shown first, because all columns of a record do not fit on a screen. */
const columns: Record<QueryEntity, readonly string[]> = {
  observations: [
    ...['start_time', 'type', 'name', 'model', 'status', 'duration_ms', 'total_tokens', 'cost_usd'],
    ...['task_id', 'trace_id'],
  ],
  traces: [
    ...['start_time', 'name', 'status', 'duration_ms', 'calls', 'total_tokens', 'cost_usd'],
    ...['task_id', 'trace_id'],
  ],
  events: ['time', 'name', 'level', 'observation_id', 'trace_id'],
  links: ['time', 'link_id', 'trace_id', 'linked_trace_id', 'linked_observation_id'],
  correlations: ['time', 'correlation_type', 'correlation_value', 'trace_id'],
  tasks: [
    ...['started_at', 'name', 'state', 'calls', 'errors', 'total_tokens', 'cost_usd'],
    ...['wasted_cost_usd', 'task_id'],
  ],
  findings: ['started_at', 'severity', 'type', 'state', 'summary', 'wasted_cost_usd', 'task_id'],
}

/** Returns the query of the latest records of an entity, with the columns that matter first. */
export function latestOf(entity: QueryEntity): Body {
  return { entity, select: [...columns[entity]] }
}

const isCall = { field: 'is_call', op: 'eq' as const, value: true }

/** Queries to begin with: what platform teams ask first. */
export const examples: readonly { title: string; body: Body }[] = [
  {
    title: 'Cost and tokens of each model',
    body: {
      entity: 'observations',
      where: isCall,
      measures: [
        { fn: 'sum', field: 'cost_usd', as: 'cost_usd' },
        { fn: 'sum', field: 'total_tokens', as: 'tokens' },
        { fn: 'count', as: 'calls' },
      ],
      group_by: ['model'],
    },
  },
  {
    title: 'Share of failed calls by provider and model',
    body: {
      entity: 'observations',
      where: isCall,
      measures: [
        { fn: 'error_rate', as: 'error_rate' },
        { fn: 'count', as: 'calls' },
      ],
      group_by: ['provider', 'model'],
    },
  },
  {
    title: 'Latest failures with their messages',
    body: {
      entity: 'observations',
      where: { field: 'status', op: 'eq', value: 'error' },
      select: ['start_time', 'name', 'model', 'error_type', 'error_message', 'task_id', 'trace_id'],
    },
  },
  {
    title: 'Slow and expensive traces',
    body: {
      ...latestOf('traces'),
      where: { and: [{ field: 'duration_ms', op: 'gt', value: 5_000 }] },
      order_by: [{ field: 'cost_usd', direction: 'desc' }],
    },
  },
  {
    title: 'Tasks that wasted most',
    body: {
      ...latestOf('tasks'),
      where: { field: 'wasted_cost_usd', op: 'gt', value: '0' },
      order_by: [{ field: 'wasted_cost_usd', direction: 'desc' }],
    },
  },
]
