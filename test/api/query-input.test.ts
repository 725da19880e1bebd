import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { observationOf } from '../support/observations.ts'
import { openQueryApi, type QueryApi } from '../support/query-api.ts'
import { queryStart } from '../support/query-records.ts'
import { keyOf, tokenOf } from '../support/task-api.ts'

const window = { from: '2026-09-21T14:00:00Z', to: '2026-09-21T16:00:00Z' }
const observations = { entity: 'observations', window }
const counted = { ...observations, measures: [{ fn: 'count', as: 'n' }] }
const clause = { field: 'name', op: 'eq', value: 'x' }
const paths = ['query', 'query/aggregate', 'query/explain']

let api: QueryApi
beforeAll(async () => {
  api = await openQueryApi()
})
afterAll(() => api?.[Symbol.asyncDispose]())

function nested(depth: number): object {
  return depth === 0 ? clause : { not: nested(depth - 1) }
}

describe('invalid input is 400 with its position and what is valid', () => {
  test.each<[string, string, object, string, RegExp]>([
    ['an unknown entity', 'query', { ...observations, entity: 'spans' }, '/entity', /observations/],
    [
      'an unknown field of the body',
      'query',
      { ...observations, were: clause },
      '/were',
      /not a f/,
    ],
    ['no window', 'query', { entity: 'observations' }, '/window', /./],
    ['an unknown field', 'query', where({ ...clause, field: 'nam' }), '/where/field', /name/],
    [
      'an unknown field to explain',
      'query/explain',
      where({ ...clause, field: 'nam' }),
      '/where/field',
      /name/,
    ],
    ['an unknown operator', 'query', where({ ...clause, op: 'like' }), '/where/op', /contains/],
    ['another clause', 'query', where({ and: [clause, { nand: [] }] }), '/where/and/1', /and: /],
    [
      'a wrong type',
      'query',
      where({ field: 'status_code', op: 'gt', value: '5' }),
      '/where/value',
      /whole number/,
    ],
    [
      'a wrong id',
      'query',
      where({ field: 'trace_id', op: 'eq', value: 'x' }),
      '/where/value',
      /UUID/,
    ],
    [
      'a window turned round',
      'query',
      { ...observations, window: { from: window.to, to: window.from } },
      '/window/from',
      /before/,
    ],
    [
      'a wide window',
      'query',
      { ...observations, window: { from: '2026-01-01T00:00:00Z', to: window.to } },
      '/window',
      /allow_wide/,
    ],
    [
      'a sort key that is a list',
      'query',
      { entity: 'traces', window, order_by: [{ field: 'models' }] },
      '/order_by/0/field',
      /./,
    ],
    ['too many rows', 'query', { ...observations, limit: 10_001 }, '/limit', /10000/],
    [
      'too many clauses',
      'query',
      where({ or: Array.from({ length: 10_000 }, () => clause) }),
      '',
      /1000 clauses/,
    ],
    ['too deep a filter', 'query', where(nested(21)), '', /20 levels/],
    [
      'a value that is too long',
      'query',
      where({ ...clause, value: 'x'.repeat(2_049) }),
      '/where/value',
      /2048/,
    ],
    ['a NUL', 'query', where({ ...clause, value: 'a\u0000b' }), '/where/value', /U\+0000/],
    ['no measures', 'query/aggregate', observations, '/measures', /./],
    [
      'an unknown measure',
      'query/aggregate',
      { ...counted, measures: [{ fn: 'p97', as: 'n' }] },
      '/measures/0/fn',
      /p95/,
    ],
    [
      'a name that is SQL',
      'query/aggregate',
      { ...counted, measures: [{ fn: 'count', as: 'n; DROP' }] },
      '/measures/0/as',
      /name/,
    ],
    [
      'a sum of text',
      'query/aggregate',
      { ...counted, measures: [{ fn: 'sum', field: 'name', as: 'n' }] },
      '/measures/0/field',
      /text/,
    ],
    [
      'too fine buckets',
      'query/aggregate',
      { ...counted, group_by: [{ time_bucket: '1s' }] },
      '/group_by/0/time_bucket',
      /5000 buckets/,
    ],
    [
      'too many groups',
      'query/aggregate',
      { ...counted, group_by: ['name', 'model', 'status', 'type', 'source', 'level'] },
      '/group_by',
      /./,
    ],
    [
      'an unknown measure in having',
      'query/aggregate',
      { ...counted, having: { field: 'm', op: 'gt', value: 1 } },
      '/having/field',
      /n/,
    ],
  ])('%s', async (_what, path, ...[body, pointer, detail]) => {
    const reply = await api.call(path, body)
    expect([reply.status, reply.body.code]).toEqual([400, 'invalid_request'])
    const fault = reply.body.errors.find((each: { pointer: string }) =>
      pointer === '' ? each.pointer.startsWith('/where') : each.pointer === pointer,
    )
    expect(fault?.detail).toMatch(detail)
  })

  test('so are invalid JSON and unlimited arrays', async () => {
    for (const path of paths) {
      expect((await api.call(path, '{"entity":')).body.code).toBe('invalid_json')
      const deep = `{"where":${'[{"and":'.repeat(50_000)}`
      expect((await api.call(path, deep)).status).toBe(400)
      const closed = `{"where":${'{"not":'.repeat(20_000)}1${'}'.repeat(20_000)}}`
      expect((await api.call(path, closed)).status).toBe(400)
    }
  })
})

function where(filter: object) {
  return { ...observations, where: filter }
}

describe('permissions', () => {
  test.each(paths)('%s accepts keys with one of two scopes, and viewers', async (path) => {
    const body = path === 'query' ? observations : counted
    const as = async (headers: Record<string, string>) =>
      (await api.call(path, body, { headers })).status
    expect(await as(keyOf(api.project_id, 'traces:read'))).toBe(200)
    expect(await as(tokenOf('viewer', api.project_id))).toBe(200)
    expect(await as(keyOf(api.project_id, 'ingest:write'))).toBe(403)
    expect(await as({})).toBe(401)
    expect(await as({ 'x-api-key': 'wrong' })).toBe(401)
  })

  test.each(paths)('%s shows nothing of another project', async (path) => {
    const trace_id = newId()
    const theirs = newId()
    await api.insert([observationOf({ project_id: theirs, trace_id, start_time: queryStart })])
    const filter = { where: { field: 'trace_id', op: 'eq', value: trace_id } }
    const body = { ...(path === 'query' ? observations : counted), ...filter }
    const { body: mine } = await api.call(path, body)
    const { body: other } = await api.call(path, body, { headers: keyOf(theirs, 'query:run') })
    if (path === 'query') expect([mine.rows.length, other.rows.length]).toEqual([0, 1])
    if (path === 'query/aggregate')
      expect([mine.rows, other.rows]).toEqual([[{ n: 0 }], [{ n: 1 }]])
    if (path === 'query/explain') expect(JSON.stringify(mine)).not.toContain(theirs)
  })
})

describe('text is literal', () => {
  const hostile = [
    '100%',
    'a_b',
    '*',
    'a\\b',
    "it's",
    '"',
    '{p0:String}',
    '$1',
    '\n',
    '🦊',
    '[a-z]+',
  ]

  test.each(hostile)('%j matches only itself', async (text) => {
    const project_id = newId()
    const at = (name: string, id: string) =>
      observationOf({ project_id, name, observation_id: id, start_time: queryStart })
    await api.insert([at(text, '1'), at(`x${text}y`, '2'), at('100x aXb aab z', '3')])
    const found = async (op: string) => {
      const body = { ...observations, where: { field: 'name', op, value: text } }
      const reply = await api.call('query', body, { headers: keyOf(project_id, 'query:run') })
      return reply.body.rows
        .map(({ observation_id }: { observation_id: string }) => observation_id)
        .toSorted()
    }
    expect(await found('eq')).toEqual(['1'])
    expect(await found('contains')).toEqual(['1', '2'])
    expect(await found('starts_with')).toEqual(['1'])
  })

  test.each(hostile)('%j is a key like any other', async (key) => {
    const project_id = newId()
    await api.insert([
      observationOf({ project_id, start_time: queryStart, attributes: { [key]: 'v' } }),
    ])
    const name = `attributes.${key}`
    const body = {
      ...observations,
      select: [name],
      where: { field: name, op: 'eq', value: 'v' },
      order_by: [{ field: name }],
    }
    const reply = await api.call('query', body, { headers: keyOf(project_id, 'query:run') })
    expect(reply.body.rows).toEqual([{ [name]: 'v' }])
  })
})
