import { describe, expect, test } from 'vitest'
import { aggregateSchema } from './aggregate-query.ts'
import { querySchema } from './page-query.ts'

const window = { from: '2026-11-01T00:00:00Z', to: '2026-11-08T00:00:00Z' }
const base = { entity: 'observations', window }

function faultsOf(body: object) {
  const issues = querySchema.safeParse({ ...base, ...body }).error?.issues ?? []
  return issues.map(({ path, message }) => [path.join('/'), message] as const)
}

function aggregateFaults(body: object) {
  const measures = [{ fn: 'count', as: 'n' }]
  const issues = aggregateSchema.safeParse({ ...base, measures, ...body }).error?.issues ?? []
  return issues.map(({ path, message }) => [path.join('/'), message] as const)
}

const eq = (field: string, value: unknown) => ({ where: { field, op: 'eq', value } })

describe('a fault', () => {
  test('of a field names similar fields, then all', () => {
    const [[path, message] = []] = faultsOf({ where: { and: [{ field: 'modle', op: 'eq' }] } })
    expect(path).toBe('where/and/0/field')
    expect(message).toMatch(/^got "modle", expected a field of observations: model/)
    expect(message).toContain('attributes.<key>')
  })

  test('of an operator names the operators of the field', () => {
    const where = { field: 'has_error', op: 'gt', value: true }
    expect(faultsOf({ where })).toEqual([
      ['where/op', expect.stringContaining('that has_error takes: eq, ne, exists')],
    ])
    const [[, message] = []] = faultsOf({ where: { field: 'name', op: 'start_with', value: '' } })
    expect(message).toContain('starts_with? One of eq, ne')
  })

  test.each([
    ['status_code', '200', 'a whole number'],
    ['status_code', 1.5, 'a whole number'],
    ['cost_usd', '1e3', 'a decimal'],
    ['start_time', 'yesterday', 'an ISO 8601 instant'],
    ['trace_id', 'x', 'a trace id'],
    ['name', 'a\u0000', 'no U+0000'],
    ['name', '\ud800', 'text'],
    ['name', null, 'text'],
    ['has_error', 'true', 'true or false'],
    ['attributes.k', true, 'text'],
  ])('of a value of %s, %j, says what is expected', (field, value, expected) => {
    expect(faultsOf(eq(field, value))).toEqual([['where/value', expect.stringContaining(expected)]])
  })

  test.each([
    [{ window: { from: window.to, to: window.from } }, 'window/from', 'before to'],
    [{ window: { from: '2026-01-01T00:00:00Z', to: window.to } }, 'window', 'allow_wide'],
    [{ window: { from: 'x', to: window.to } }, 'window/from', 'ISO 8601'],
    [{ limit: 10_001 }, 'limit', '1 to 10000'],
    [{ select: ['name', 'name'] }, 'select/1', 'each field once'],
    [{ order_by: [{ field: 'input' }] }, 'order_by/0/field', 'no content'],
    [{ order_by: [{ field: 'name' }, { field: 'name' }] }, 'order_by/1/field', 'once'],
    [{ where: {} }, 'where', 'expected {field, op, value}'],
    [{ where: { and: [] } }, 'where/and', 'at least one'],
    [{ where: { not: 5 } }, 'where/not', 'expected {field'],
    [{ where: { ...eq('name', 'x').where, more: 1 } }, 'where/more', 'no such field'],
    [{ where: { field: 'name', op: 'in', value: [] } }, 'where/value', '1 to 1000 values'],
    [eq(`attributes.${'k'.repeat(257)}`, 'x'), 'where/field', '1 to 256 characters'],
    [eq('attributes.', 'x'), 'where/field', '1 to 256 characters'],
    [eq('__proto__', 'x'), 'where/field', 'a field of observations'],
    [eq('constructor', 'x'), 'where/field', 'a field of observations'],
    [{ entity: 'tasks', include_restored: true }, 'include_restored', 'tasks are never archived'],
  ])('%j is at %s', (body, path, message) => {
    expect(faultsOf(body)).toEqual([[path, expect.stringContaining(message)]])
  })
})

describe('a filter', () => {
  test('is bounded in clauses, depth and bytes', () => {
    const leaf = eq('name', 'x').where
    const clauses = { where: { or: Array.from({ length: 10_000 }, () => leaf) } }
    expect(faultsOf(clauses)).toEqual([
      [expect.anything(), expect.stringContaining('1000 clauses')],
    ])
    const fine = { where: { or: Array.from({ length: 999 }, () => leaf) } }
    expect(faultsOf(fine)).toEqual([])
    let deep: object = leaf
    for (let level = 0; level < 50_000; level++) deep = { not: deep }
    expect(faultsOf({ where: deep })).toEqual([
      [expect.anything(), expect.stringContaining('20 levels')],
    ])
    const value = Array.from({ length: 100 }, () => 'x'.repeat(1_000))
    expect(faultsOf({ where: { field: 'name', op: 'in', value } })).toEqual([
      ['where/value', expect.stringContaining('60000 bytes')],
    ])
  })

  test('reads values by the type of the field', () => {
    const { query } = querySchema.parse({
      ...base,
      where: {
        and: [
          eq('trace_id', '0198C0DE00007000800000000000000A').where,
          eq('cost_usd', 1e-7).where,
          eq('start_time', '2026-11-02T00:00:00+01:00').where,
        ],
      },
    })
    expect(query.where).toMatchObject({
      parts: [
        { value: '0198c0de-0000-7000-8000-00000000000a' },
        { value: '0.0000001' },
        { value: BigInt(Date.UTC(2026, 10, 1, 23)) * 1_000_000n },
      ],
    })
  })

  test('without select has all fields except content', () => {
    const names = querySchema.parse(base).query.select.map(({ name }) => name)
    expect(names).toContain('total_tokens')
    expect(names).not.toContain('input')
  })
})

describe('an aggregate', () => {
  test.each([
    [{ measures: [{ fn: 'sum', as: 'x' }] }, 'measures/0/field', 'the field to take sum of'],
    [{ measures: [{ fn: 'count', field: 'name', as: 'x' }] }, 'measures/0/field', 'no field'],
    [{ measures: [{ fn: 'sum', field: 'name', as: 'x' }] }, 'measures/0/field', 'it is text'],
    [{ measures: [{ fn: 'count', as: 'other' }] }, 'measures/0/as', 'no other column'],
    [{ group_by: ['name', 'name'] }, 'group_by/1', 'no other column'],
    [{ group_by: ['cost_usd'] }, 'group_by/0', 'never unknown'],
    [{ group_by: ['input'] }, 'group_by/0', 'never unknown'],
    [{ group_by: [{ time_bucket: '5 minutes' }] }, 'group_by/0/time_bucket', '30s, 5m'],
    [{ group_by: [{ time_bucket: '1s' }] }, 'group_by/0/time_bucket', '5000 buckets'],
    [{ having: eq('name', 'x').where }, 'having/field', 'expected n'],
    [{ order_by: [{ field: 'm' }] }, 'order_by/0/field', 'expected n'],
    [{ fill: true }, 'fill', 'a time_bucket'],
    [{ top_n: { n: 1, by: 'n' } }, 'top_n', 'a field in group_by'],
    [{ group_by: ['name'], top_n: { n: 1, by: 'm' } }, 'top_n/by', 'expected n'],
  ])('%j is refused at %s', (body, path, message) => {
    expect(aggregateFaults(body)).toEqual([[path, expect.stringContaining(message)]])
  })

  test('of links has no errors to count', () => {
    const body = { entity: 'links', measures: [{ fn: 'error_rate', as: 'e' }] }
    expect(aggregateFaults(body)).toEqual([['measures/0/fn', expect.stringContaining('no links')]])
  })
})
