import { describe, expect, test } from 'vitest'
import { aggregateSchema } from '../language/aggregate-query.ts'
import { querySchema } from '../language/page-query.ts'
import { compileAggregate } from './compile-aggregate.ts'
import { compileQuery } from './compile-query.ts'
import { clickhouse } from './dialects/clickhouse.ts'
import type { Statement } from './statement.ts'

const project_id = '0198c0de-0000-7000-8000-0000000000aa'
const slices = ['0198c0de-0000-7000-8000-0000000000b1', '0198c0de-0000-7000-8000-0000000000b2']
const asked = {
  window: { from: '2026-11-01T00:00:00Z', to: '2026-11-08T00:00:00Z' },
  include_restored: true,
}

const queries = {
  'restored-latest': { entity: 'observations', select: ['trace_id', 'name'], limit: 50 },
  'restored-of-a-task': {
    entity: 'observations',
    select: ['start_time', 'name', 'duration_ms', 'input'],
    where: { field: 'task_id', op: 'eq', value: 'task-1' },
  },
  'restored-slow-traces': {
    entity: 'traces',
    select: ['trace_id', 'name', 'duration_ms', 'metadata.tenant'],
    order_by: [{ field: 'duration_ms', direction: 'desc' }],
  },
  'restored-correlations-of-a-value': {
    entity: 'correlations',
    where: { field: 'correlation_value', op: 'eq', value: 'order-1' },
  },
} as const

/** The text, followed by the parameters. */
function shown({ text, params }: Statement): string {
  const values = params.map((value, at) => `-- ${at}: ${JSON.stringify(value, digits)}\n`)
  return `${text}\n${values.join('')}`
}

function digits(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}n` : value
}

describe('the text of statements over live and restored rows', () => {
  test.each(Object.entries(queries))('%s', async (name, body) => {
    const { query } = querySchema.parse({ ...body, ...asked })
    const statement = compileQuery({ ...query, slices }, { project_id, dialect: clickhouse })
    await expect(shown(statement)).toMatchFileSnapshot(`snapshots/${name}.clickhouse.sql`)
  })

  test('an aggregate', async () => {
    const aggregate = aggregateSchema.parse({
      ...{ entity: 'observations', ...asked },
      measures: [{ fn: 'sum', field: 'total_tokens', as: 'tokens' }],
      group_by: ['model', { time_bucket: '1h' }],
    })
    const statement = compileAggregate(
      { ...aggregate, slices },
      { project_id, dialect: clickhouse },
    )
    await expect(shown(statement)).toMatchFileSnapshot('snapshots/restored-tokens.clickhouse.sql')
  })

  test('without slices it equals the text over live rows alone', () => {
    const { query } = querySchema.parse({ ...queries['restored-latest'], ...asked })
    const { query: live } = querySchema.parse({
      ...queries['restored-latest'],
      window: asked.window,
    })
    const about = { project_id, dialect: clickhouse }
    expect(compileQuery({ ...query, slices: [] }, about)).toEqual(compileQuery(live, about))
  })
})
