import { describe, expect, test } from 'vitest'
import { storeCapabilities } from '../../storage/index.ts'
import { aggregateSchema } from '../language/aggregate-query.ts'
import { querySchema } from '../language/page-query.ts'
import { compileAggregate } from './compile-aggregate.ts'
import { compileQuery } from './compile-query.ts'
import { clickhouse } from './dialects/clickhouse.ts'
import { postgres } from './dialects/postgres.ts'
import type { Statement } from './statement.ts'

const project_id = '0198c0de-0000-7000-8000-0000000000aa'
const window = { from: '2026-11-01T00:00:00Z', to: '2026-11-08T00:00:00Z' }
const call = { field: 'is_call', op: 'eq', value: true }

const queries = {
  latest: { entity: 'observations', select: ['trace_id', 'name', 'input'], limit: 50 },
  'trace-by-id': {
    entity: 'observations',
    where: { field: 'trace_id', op: 'eq', value: '0198c0de00007000800000000000000a' },
    order_by: [{ field: 'start_time', direction: 'asc' }],
    limit: 1000,
  },
  'of-a-task': {
    entity: 'observations',
    select: ['start_time', 'name', 'cost_usd'],
    where: { field: 'task_id', op: 'eq', value: 'task-1' },
  },
  'costliest-with-content': {
    entity: 'observations',
    select: ['trace_id', 'cost_usd', 'input', 'metadata.tenant'],
    where: {
      and: [
        call,
        { not: { field: 'attributes.http.status', op: 'lt', value: 400 } },
        { field: 'metadata.tenant', op: 'in', value: ['a', 'b'] },
      ],
    },
    order_by: [{ field: 'cost_usd', direction: 'desc' }],
  },
  'below-some-text': {
    entity: 'observations',
    select: ['observation_id', 'user_id'],
    where: {
      and: [
        { field: 'user_id', op: 'lt', value: 'm' },
        { field: 'environment', op: 'gte', value: 'prod' },
        { not: { field: 'environment', op: 'in', value: ['', 'prod'] } },
        { field: 'metadata.tenant', op: 'contains', value: '' },
        { not: { field: 'release', op: 'eq', value: '' } },
      ],
    },
    order_by: [{ field: 'user_id', direction: 'asc' }],
  },
  'slow-traces': {
    entity: 'traces',
    select: ['trace_id', 'name', 'duration_ms', 'cost_usd', 'metadata.tenant'],
    where: { field: 'duration_ms', op: 'gt', value: 1000 },
    order_by: [{ field: 'duration_ms', direction: 'desc' }],
  },
  'events-by-name': {
    entity: 'events',
    select: ['time', 'trace_id', 'body'],
    where: { field: 'name', op: 'starts_with', value: 'exception' },
  },
  'correlations-of-a-value': {
    entity: 'correlations',
    where: { field: 'correlation_value', op: 'eq', value: 'order-1' },
  },
} as const

const aggregates = {
  'hourly-p95-by-model': {
    entity: 'observations',
    where: call,
    measures: [{ fn: 'p95', field: 'duration_ms', as: 'p95_ms' }],
    group_by: ['model', { time_bucket: '1h' }],
  },
  'token-and-cost-sums': {
    entity: 'observations',
    where: call,
    measures: [
      { fn: 'sum', field: 'total_tokens', as: 'tokens' },
      { fn: 'sum', field: 'cost_usd', as: 'cost' },
      { fn: 'error_rate', as: 'errors' },
      { fn: 'rate', as: 'per_second' },
    ],
    having: { field: 'cost', op: 'gt', value: '1.5' },
    group_by: ['user_id'],
  },
  'top-models-with-other': {
    entity: 'observations',
    measures: [{ fn: 'count', as: 'calls' }],
    group_by: [{ time_bucket: '1d' }, 'model'],
    top_n: { n: 3, by: 'calls' },
    fill: true,
  },
} as const

/** Clocks change in Berlin on 25 October. */
const byLocalDay = {
  entity: 'observations',
  window: { from: '2026-10-20T00:00:00Z', to: '2026-11-01T00:00:00Z' },
  measures: [{ fn: 'rate', as: 'per_second' }],
  group_by: [{ time_bucket: '1d', time_zone: 'Europe/Berlin' }],
} as const

const tasks = {
  'costliest-tasks': {
    entity: 'tasks',
    select: ['task_id', 'user_id', 'cost_usd', 'started_at'],
    where: { field: 'models', op: 'contains', value: 'm-1' },
    order_by: [{ field: 'cost_usd', direction: 'desc' }],
  },
  'ended-tasks': {
    entity: 'tasks',
    select: ['task_id'],
    order_by: [{ field: 'ended_at', direction: 'asc' }],
  },
  'least-trusted-tasks': {
    entity: 'tasks',
    select: ['task_id', 'trust_score', 'verified_at'],
    where: {
      and: [
        { field: 'verification_state', op: 'eq', value: 'verified' },
        { field: 'trust_score', op: 'lt', value: 0.5 },
      ],
    },
    order_by: [{ field: 'trust_score', direction: 'asc' }],
  },
} as const

const tasksByDay = {
  entity: 'tasks',
  measures: [
    { fn: 'count', as: 'tasks' },
    { fn: 'error_rate', as: 'failed' },
    { fn: 'p95', field: 'cost_usd', as: 'p95_cost' },
  ],
  group_by: [{ time_bucket: '1d' }, 'environment'],
} as const

/** The text, followed by the parameters. */
function shown({ text, params }: Statement): string {
  const values = params.map((value, at) => `-- ${at}: ${JSON.stringify(value, digits)}\n`)
  return `${text}\n${values.join('')}`
}

function digits(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}n` : value
}

describe('the text of a page', () => {
  test.each(Object.entries(queries))('%s', async (name, body) => {
    const { query } = querySchema.parse({ ...body, window })
    const statement = compileQuery(query, { project_id, dialect: clickhouse })
    await expect(shown(statement)).toMatchFileSnapshot(`snapshots/${name}.clickhouse.sql`)
  })

  const entities = storeCapabilities.postgres.entities as readonly string[]
  const inBoth = Object.entries(queries).filter(([, { entity }]) => entities.includes(entity))
  test.each(inBoth)('%s, in PostgreSQL', async (name, body) => {
    const { query } = querySchema.parse({ ...body, window })
    const statement = compileQuery(query, { project_id, dialect: postgres })
    await expect(shown(statement)).toMatchFileSnapshot(`snapshots/${name}.postgres.sql`)
  })

  test('after a position reads only the rest of the window', async () => {
    const { query } = querySchema.parse({ ...queries.latest, window })
    const after = [
      '1793000000000000000',
      '0198c0de-0000-7000-8000-00000000000a',
      '00f067aa0ba902b7',
    ]
    const statement = compileQuery(query, { project_id, dialect: clickhouse, after })
    await expect(shown(statement)).toMatchFileSnapshot('snapshots/latest-behind.clickhouse.sql')
  })

  test.each(Object.entries(tasks))('%s', async (name, body) => {
    const { query } = querySchema.parse({ ...body, window })
    const statement = compileQuery(query, { project_id, dialect: postgres })
    await expect(shown(statement)).toMatchFileSnapshot(`snapshots/${name}.postgres.sql`)
  })
})

describe('the text of an aggregate', () => {
  test.each(Object.entries(aggregates))('%s', async (name, body) => {
    const aggregate = aggregateSchema.parse({ ...body, window })
    const statement = compileAggregate(aggregate, { project_id, dialect: clickhouse })
    await expect(shown(statement)).toMatchFileSnapshot(`snapshots/${name}.clickhouse.sql`)
  })

  test.each(Object.entries(aggregates))('%s, in PostgreSQL', async (name, body) => {
    const aggregate = aggregateSchema.parse({ ...body, window })
    const statement = compileAggregate(aggregate, { project_id, dialect: postgres })
    await expect(shown(statement)).toMatchFileSnapshot(`snapshots/${name}.postgres.sql`)
  })

  test.each([clickhouse, postgres])('days of a time zone, $store', async (dialect) => {
    const aggregate = aggregateSchema.parse(byLocalDay)
    const statement = compileAggregate(aggregate, { project_id, dialect })
    const file = `snapshots/calls-by-local-day.${dialect.store}.sql`
    await expect(shown(statement)).toMatchFileSnapshot(file)
  })

  test('tasks by day', async () => {
    const aggregate = aggregateSchema.parse({ ...tasksByDay, window })
    const statement = compileAggregate(aggregate, { project_id, dialect: postgres })
    await expect(shown(statement)).toMatchFileSnapshot('snapshots/tasks-by-day.postgres.sql')
  })
})
