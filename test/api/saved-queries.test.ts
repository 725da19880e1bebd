import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { savedQueryRoutes } from '../../src/capabilities/saved-queries/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import type { Kysely, SavedQueryTables } from '../../src/platform/relational/index.ts'
import { observationOf } from '../support/observations.ts'
import { type Json, openQueryApi, type QueryApi } from '../support/query-api.ts'
import { keyOf, tokenOf } from '../support/task-api.ts'

const now_ms = Date.UTC(2026, 8, 21, 15)
const path = 'saved-queries'
let api: QueryApi
let editor: Record<string, string>

beforeAll(async () => {
  api = await openQueryApi({
    routes: (queries, relational) =>
      savedQueryRoutes({
        db: relational.db as unknown as Kysely<SavedQueryTables>,
        clock: { now_ms: () => now_ms },
        queries,
        saved_queries_max: 30,
      }),
  })
  editor = tokenOf('editor', api.project_id)
  const { project_id } = api
  const at = (minutes: number) => BigInt(now_ms - minutes * 60_000) * 1_000_000n
  await api.insert(
    Array.from({ length: 12 }, (_, index) =>
      observationOf({
        project_id,
        observation_id: `o${index}`,
        start_time: at(index * 10 + 5),
        model: `m-${index % 2}`,
        cost_usd: `0.${index + 10}`,
      }),
    ),
  )
})
afterAll(() => api?.[Symbol.asyncDispose]())

let names = 0
const costly = (change: object = {}) => ({
  name: `costly calls ${++names}`,
  visibility: 'project',
  kind: 'query',
  body: {
    entity: 'observations',
    window: { last: '2h' },
    where: {
      and: [
        { field: 'model', op: 'eq', value: { $param: 'model' } },
        { field: 'cost_usd', op: 'gte', value: { $param: 'least' } },
      ],
    },
    select: ['observation_id'],
    limit: 2,
  },
  parameters: [
    { name: 'model', type: 'text', required: true },
    { name: 'least', type: 'text', default: '0' },
  ],
  ...change,
})

async function saved(change: object = {}): Promise<Json> {
  const { status, body } = await api.call(path, costly(change), { headers: editor })
  expect([status, body.code]).toEqual([201, undefined])
  return body
}

const idsOf = (rows: { observation_id: string }[]) => rows.map((row) => row.observation_id)

describe('saving', () => {
  test('a query is stored, read and listed unchanged', async () => {
    const { status, body, headers } = await api.call(path, costly(), { headers: editor })
    expect([status, headers.get('etag')]).toEqual([201, '"1"'])
    expect(body).toMatchObject({ owner: 'user:user-1', version: 1, broken: [], description: '' })
    const one = await api.call(`${path}/${body.saved_query_id}`, undefined, { method: 'GET' })
    expect([one.status, one.body]).toEqual([200, body])
    const list = await api.call(path, undefined, { method: 'GET' })
    expect(list.body.saved_queries[0]).toEqual(body)
  })

  test.each<[string, object, string]>([
    [
      'an unknown field',
      { body: bodyWith({ field: 'nam', op: 'eq', value: 'x' }) },
      '/body/where/field',
    ],
    ['an undeclared parameter', { parameters: [] }, '/body/where/and/0/value'],
    ['a cursor', { body: { ...costly().body, cursor: 'x' } }, '/body/cursor'],
    [
      'a window without end',
      { body: { ...costly().body, window: { last: 'long' } } },
      '/body/window/from',
    ],
    ['another kind', { kind: 'aggregate' }, '/body/measures'],
    [
      'a default of another type',
      { parameters: [{ name: 'a', type: 'integer', default: 'x' }] },
      '/parameters/0/default',
    ],
    [
      'neither default nor required',
      { parameters: [{ name: 'a', type: 'integer' }] },
      '/parameters/0/default',
    ],
    [
      'a name twice',
      { parameters: [...costly().parameters, costly().parameters[0]] },
      '/parameters/2/name',
    ],
    ['no name', { name: '' }, '/name'],
    ['an unknown field', { colour: 'red' }, '/colour'],
    ['a large body', { body: { ...costly().body, x: 'y'.repeat(70_000) } }, '/body'],
  ])('refuses %s', async (_what, change, pointer) => {
    const { status, body } = await api.call(path, costly(change), { headers: editor })
    expect(status).toBe(400)
    expect(body.errors.map((each: { pointer: string }) => each.pointer)).toContain(pointer)
  })

  test('each name is unique, and their number is limited', async () => {
    const { name } = await saved()
    const again = await api.call(path, costly({ name }), { headers: editor })
    expect([again.status, again.body.code]).toEqual([409, 'name_taken'])
    // Private queries have separate names.
    await saved({ name, visibility: 'private' })
    const headers = tokenOf('editor', newId())
    const replies = await Promise.all(
      Array.from({ length: 34 }, () => api.call(path, costly(), { headers })),
    )
    const codes = replies.map(({ status, body }) => body.code ?? status)
    expect(codes.filter((code) => code === 201)).toHaveLength(30)
    expect(codes.filter((code) => code === 'limit_reached')).toHaveLength(4)
  })
})

function bodyWith(where: object) {
  return { ...costly().body, where }
}

describe('changing', () => {
  test('accepts the version that was read, and no older one', async () => {
    const { saved_query_id, name } = await saved()
    const url = `${path}/${saved_query_id}`
    const put = (etag: string, change: object = {}) =>
      api.call(url, costly({ name, ...change }), {
        method: 'PUT',
        headers: { ...editor, 'if-match': etag },
      })
    const changed = await put('"1"', { description: 'of a model' })
    expect([changed.status, changed.headers.get('etag')]).toEqual([200, '"2"'])
    expect(changed.body).toMatchObject({ description: 'of a model', version: 2 })
    expect((await put('"1"')).status).toBe(412)
    const other = await saved()
    expect((await put('"2"', { name: other.name })).body.code).toBe('name_taken')
    const remove = (etag: string) =>
      api.call(url, undefined, { method: 'DELETE', headers: { ...editor, 'if-match': etag } })
    expect((await remove('"1"')).status).toBe(412)
    expect((await remove('"2"')).status).toBe(204)
    expect((await remove('"2"')).body.code).toBe('saved_query_not_found')
  })

  test('is for editors; private ones are for their owner', async () => {
    const shared = await saved()
    const mine = await saved({ visibility: 'private' })
    const as = async (headers: Record<string, string>, id: string, method = 'GET') =>
      (
        await api.call(`${path}/${id}`, method === 'PUT' ? costly({ name: id }) : undefined, {
          method,
          headers,
        })
      ).status
    const viewer = tokenOf('viewer', api.project_id)
    const key = keyOf(api.project_id, 'query:run')
    expect(await as(viewer, shared.saved_query_id)).toBe(200)
    expect(await as(viewer, shared.saved_query_id, 'PUT')).toBe(403)
    expect(await as(viewer, shared.saved_query_id, 'DELETE')).toBe(403)
    expect((await api.call(path, costly(), { headers: viewer })).status).toBe(403)
    expect(await as(key, mine.saved_query_id)).toBe(404)
    expect(await as(key, mine.saved_query_id, 'DELETE')).toBe(404)
    const list = await api.call(path, undefined, { method: 'GET', headers: key })
    expect(list.body.saved_queries.map((each: Json) => each.saved_query_id)).not.toContain(
      mine.saved_query_id,
    )
    const hidden = await api.call(
      `${path}/${shared.saved_query_id}`,
      costly({ visibility: 'private' }),
      { method: 'PUT', headers: key },
    )
    expect(hidden.status).toBe(403)
    expect(await as(keyOf(api.project_id, 'ingest:write'), shared.saved_query_id)).toBe(403)
    expect(await as({}, shared.saved_query_id)).toBe(401)
  })

  test('and reading is refused for other projects', async () => {
    const { saved_query_id } = await saved()
    const headers = tokenOf('admin', newId())
    for (const [method, suffix] of [
      ['GET', ''],
      ['PUT', ''],
      ['DELETE', ''],
      ['POST', '/run'],
    ]) {
      const body = method === 'PUT' ? costly() : method === 'POST' ? {} : undefined
      const reply = await api.call(`${path}/${saved_query_id}${suffix}`, body, {
        method: method ?? '',
        headers,
      })
      expect([method, reply.status]).toEqual([method, 404])
    }
    expect((await api.call(path, undefined, { method: 'GET', headers })).body.total).toBe(0)
    expect((await api.call(`${path}/x/run`, {})).status).toBe(404)
  })
})

test('lists go by pages and kinds', async () => {
  const headers = tokenOf('editor', newId())
  const aggregate = {
    kind: 'aggregate',
    parameters: [],
    body: { entity: 'traces', window: { last: '7d' }, measures: [{ fn: 'count', as: 'n' }] },
  }
  for (const change of [{}, {}, aggregate]) await api.call(path, costly(change), { headers })
  const list = (query: string) =>
    api.call(`${path}${query}`, undefined, { method: 'GET', headers }).then(({ body }) => body)
  const first = await list('?limit=2')
  expect([first.saved_queries.length, first.total]).toEqual([2, 3])
  const second = await list(`?limit=2&cursor=${first.next_cursor}`)
  expect([second.saved_queries.length, second.next_cursor]).toEqual([1, null])
  expect((await list('?kind=aggregate')).total).toBe(1)
  expect((await list(`?kind=query&cursor=${first.next_cursor}`)).code).toBe('invalid_cursor')
})

describe('running', () => {
  const run = (id: string, body?: object) => api.call(`${path}/${id}/run`, body ?? {})

  test('inserts values and the window, and continues from page to page', async () => {
    const { saved_query_id: id } = await saved()
    const { status, body } = await run(id, { parameters: { model: 'm-1' } })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      kind: 'query',
      served_by: 'clickhouse',
      window: { from: '2026-09-21T13:00:00.000Z', to: '2026-09-21T15:00:00.000Z' },
    })
    const seen = idsOf(body.rows)
    let cursor = body.next_cursor
    while (cursor) {
      const page = await run(id, { parameters: { model: 'm-1' }, cursor })
      expect(page.body.window).toEqual(body.window)
      seen.push(...idsOf(page.body.rows))
      cursor = page.body.next_cursor
    }
    expect(seen).toEqual(['o1', 'o3', 'o5', 'o7', 'o9', 'o11'])
    const other = await run(id, { parameters: { model: 'm-0' }, cursor: body.next_cursor })
    expect(other.body.code).toBe('invalid_cursor')
    const least = { parameters: { model: 'm-1', least: '0.19' }, limit: 10, window: { last: '1h' } }
    expect(idsOf((await run(id, least)).body.rows)).toEqual([])
    const wide = { ...least, window: { last: '1d' } }
    expect(idsOf((await run(id, wide)).body.rows)).toEqual(['o9', 'o11'])
  })

  test('of an aggregate returns groups', async () => {
    const { saved_query_id: id } = await saved({
      kind: 'aggregate',
      parameters: [{ name: 'models', type: 'texts', default: ['m-0', 'm-1'] }],
      body: {
        entity: 'observations',
        window: { last: '1d' },
        where: { field: 'model', op: 'in', value: { $param: 'models' } },
        measures: [{ fn: 'count', as: 'n' }],
        group_by: ['model'],
      },
    })
    const all = await run(id)
    expect(all.body).toMatchObject({ kind: 'aggregate', truncated: false, next_cursor: null })
    expect(all.body.rows).toHaveLength(2)
    const one = await run(id, { parameters: { models: ['m-1'] } })
    expect(one.body.rows).toEqual([{ model: 'm-1', n: 6 }])
  })

  test.each<[string, object, string]>([
    ['none that is required', {}, '/parameters/model'],
    ['one of another type', { model: 5 }, '/parameters/model'],
    ['one that is unknown', { model: 'm', colour: 'red' }, '/parameters/colour'],
    ['one that its field does not take', { model: 'm', least: 'much' }, '/parameters/least'],
  ])('refuses %s', async (_what, parameters, pointer) => {
    const { saved_query_id: id } = await saved()
    const { status, body } = await run(id, { parameters })
    expect([status, body.errors?.[0]?.pointer]).toEqual([400, pointer])
  })

  test('treats text literally', async () => {
    const { saved_query_id: id } = await saved()
    const { status, body } = await run(id, { parameters: { model: "' OR 1=1 -- {p0:String} $1" } })
    expect([status, body.rows]).toEqual([200, []])
  })
})

test('a query that a change of fields broke reports it', async () => {
  const { saved_query_id: id } = await saved()
  const { db } = api.relational as unknown as { db: Kysely<SavedQueryTables> }
  const body = JSON.stringify(bodyWith({ field: 'renamed', op: 'eq', value: { $param: 'model' } }))
  await db.updateTable('saved_queries').set({ body }).where('id', '=', id).execute()
  const list = await api.call(`${path}?limit=1`, undefined, { method: 'GET' })
  expect(list.body.saved_queries[0]).toMatchObject({
    saved_query_id: id,
    broken: [{ pointer: '/where/field', detail: expect.stringContaining('renamed') }],
  })
  const reply = await api.call(`${path}/${id}/run`, { parameters: { model: 'm-1' } })
  expect([reply.status, reply.body.code]).toEqual([409, 'saved_query_broken'])
  expect(reply.body.errors).toMatchObject([{ pointer: '/where/field' }])
})
