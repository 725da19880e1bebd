import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { isoFromNs } from '../../src/kernel/time.ts'
import { openRecordApi, type RecordApi } from '../support/record-api.ts'
import { eventOf, linkOf, rowsOf, second, start, traceOf } from '../support/records.ts'
import { keyOf, tokenOf } from '../support/task-api.ts'

let api: RecordApi
beforeAll(async () => {
  api = await openRecordApi()
})
afterAll(() => api[Symbol.asyncDispose]())

const path = (traceId: string, rest: string) => `/api/v2/observability/traces/${traceId}/${rest}`

/** Five events, one a second; those of the second observation are named `late`. */
async function traceOfFive(): Promise<string> {
  // Not a UUID of any version: W3C ids are any 16 bytes.
  const trace_id = `4bf92f35-77b3-0da6-03ce-${newId().slice(-12)}`
  const events = Array.from({ length: 5 }, (_, index) =>
    eventOf({
      project_id: api.project_id,
      trace_id,
      observation_id: index < 3 ? 'a' : 'b',
      event_id: `e${index}`,
      time: start + BigInt(index) * second,
      name: index < 3 ? 'early' : 'late',
      ...(index === 0 && { body: 'said', level: 'error' as const, attributes: ['k', 'v'] }),
    }),
  )
  await api.records.insertRows('events', rowsOf('events', events), { token: newId() })
  return trace_id
}

const idsOf = (body: Record<string, unknown>) =>
  (body['events'] as { event_id: string }[]).map(({ event_id }) => event_id)

describe('events', () => {
  test('of a trace, in order, by either spelling of its id', async () => {
    const trace_id = await traceOfFive()
    for (const spelling of [trace_id, trace_id.toUpperCase(), trace_id.replaceAll('-', '')]) {
      const { status, body } = await api.get(path(spelling, 'events'))
      expect(status).toBe(200)
      expect(idsOf(body)).toEqual(['e0', 'e1', 'e2', 'e3', 'e4'])
      expect(body).toMatchObject({ total: 5, next_cursor: null })
    }
    const { body } = await api.get(path(trace_id, 'events?limit=1'))
    expect(body['events']).toEqual([
      {
        event_id: 'e0',
        trace_id,
        observation_id: 'a',
        time: isoFromNs(start),
        source: 'otlp',
        name: 'early',
        level: 'error',
        body: 'said',
        attributes: { k: 'v' },
      },
    ])
  })

  test.each([
    ['name=late', ['e3', 'e4']],
    ['observation_id=a', ['e0', 'e1', 'e2']],
    [`from=${isoFromNs(start + second)}&to=${isoFromNs(start + 3n * second)}`, ['e1', 'e2']],
    ['order=desc&name=early', ['e2', 'e1', 'e0']],
    ['name=none', []],
  ])('%s', async (query, expected) => {
    const trace_id = await traceOfFive()
    const { status, body } = await api.get(path(trace_id, `events?${query}`))
    expect(status).toBe(200)
    expect(idsOf(body)).toEqual(expected)
    expect(body['total']).toBe(expected.length)
  })

  test.each(['asc', 'desc'])('are read page by page, %s', async (order) => {
    const trace_id = await traceOfFive()
    const seen: string[] = []
    let cursor = ''
    for (let pages = 0; pages < 4; pages++) {
      const { body } = await api.get(path(trace_id, `events?order=${order}&limit=2${cursor}`))
      seen.push(...idsOf(body))
      expect(body['total']).toBe(5)
      if (body['next_cursor'] === null) break
      cursor = `&cursor=${body['next_cursor']}`
    }
    const ids = ['e0', 'e1', 'e2', 'e3', 'e4']
    expect(seen).toEqual(order === 'asc' ? ids : ids.toReversed())
  })

  test('a page of large texts ends early', async () => {
    const trace_id = newId()
    const events = [0, 1, 2].map((index) =>
      eventOf({
        project_id: api.project_id,
        trace_id,
        event_id: `e${index}`,
        body: 'x'.repeat(3 * 1024 * 1024),
      }),
    )
    await api.records.insertRows('events', rowsOf('events', events), { token: newId() })
    const first = await api.get(path(trace_id, 'events'))
    expect(idsOf(first.body)).toEqual(['e0', 'e1'])
    const cursor = first.body['next_cursor']
    const rest = await api.get(path(trace_id, `events?cursor=${cursor}`))
    expect(idsOf(rest.body)).toEqual(['e2'])
    expect(rest.body).toMatchObject({ total: 3, next_cursor: null })
  })
})

describe('links', () => {
  test('from a trace and to it', async () => {
    const { project_id } = api
    const [trace_id, other] = [newId(), newId()]
    const links = [
      linkOf({ project_id, trace_id, linked_trace_id: other, linked_observation_id: 'x' }),
      linkOf({ project_id, trace_id: other, linked_trace_id: trace_id, time: start + second }),
    ]
    await api.records.insertRows('links', rowsOf('links', links), { token: newId() })
    const { status, body } = await api.get(path(trace_id, 'links'))
    expect(status).toBe(200)
    expect(body).toMatchObject({
      links: [
        { direction: 'from', linked_trace_id: other, linked_observation_id: 'x' },
        { direction: 'to', trace_id: other, linked_observation_id: null },
      ],
      total: 2,
      next_cursor: null,
    })
    const to = await api.get(path(trace_id, 'links?direction=to'))
    expect(to.body).toMatchObject({ links: [{ direction: 'to' }], total: 1 })
    const first = await api.get(path(trace_id, 'links?order=desc&limit=1'))
    expect(first.body['links']).toMatchObject([{ direction: 'to' }])
    const cursor = first.body['next_cursor']
    const next = await api.get(path(trace_id, `links?order=desc&limit=1&cursor=${cursor}`))
    expect(next.body).toMatchObject({ links: [{ direction: 'from' }], next_cursor: null })
  })
})

describe.each(['events', 'links', 'correlations'])('%s: refusals', (kind) => {
  test('nothing of the trace is known', async () => {
    const { status, body } = await api.get(path(newId(), kind))
    expect([status, body['code']]).toEqual([404, 'trace_not_found'])
  })

  test('the trace is known, and has none', async () => {
    const trace = traceOf({ project_id: api.project_id })
    await api.records.insertRows('traces', rowsOf('traces', [trace]), { token: newId() })
    const { status, body } = await api.get(path(trace.trace_id, kind))
    expect(status).toBe(200)
    expect(body).toEqual({ [kind]: [], total: 0, next_cursor: null })
  })

  test('the trace belongs to another project', async () => {
    const trace_id = await traceOfFive()
    const { status } = await api.get(path(trace_id, kind), keyOf(newId(), 'traces:read'))
    expect(status).toBe(404)
  })

  test.each([
    ['nothing', {}, 401],
    ['a key without the scope', 'tasks:read', 403],
    ['a key that may query', 'query:run', 200],
    ['a viewer', 'viewer', 200],
  ])('%s', async (_, given, expected) => {
    const trace_id = await traceOfFive()
    const headers =
      typeof given !== 'string'
        ? given
        : given === 'viewer'
          ? tokenOf(given, api.project_id)
          : keyOf(api.project_id, given)
    expect((await api.get(path(trace_id, kind), headers)).status).toBe(expected)
  })

  test.each([
    ['x', '', 'path.trace_id'],
    [newId(), '?limit=0', 'query.limit'],
    [newId(), '?limit=1001', 'query.limit'],
    [newId(), '?order=up', 'query.order'],
    [newId(), '?nothing=1', 'query.nothing'],
  ])('/%s/…%s', async (id, query, pointer) => {
    const { status, body } = await api.get(path(id, `${kind}${query}`))
    expect([status, body['code']]).toEqual([400, 'invalid_request'])
    expect(body['errors']).toMatchObject([{ pointer }])
  })

  test.each(['nonsense', Buffer.from('["x",1]').toString('base64url')])(
    'the cursor %s',
    async (cursor) => {
      const { status, body } = await api.get(path(newId(), `${kind}?cursor=${cursor}`))
      expect([status, body['code']]).toEqual([400, 'invalid_cursor'])
    },
  )
})

test('a window that ends before it begins is refused', async () => {
  const window = `from=${isoFromNs(start)}&to=${isoFromNs(start)}`
  const { status } = await api.get(path(newId(), `events?${window}`))
  expect(status).toBe(400)
})

test('a cursor of another trace or order is refused', async () => {
  const trace_id = await traceOfFive()
  const { body } = await api.get(path(trace_id, 'events?limit=1'))
  const cursor = `cursor=${body['next_cursor']}`
  for (const url of [
    path(await traceOfFive(), `events?${cursor}`),
    path(trace_id, `events?order=desc&${cursor}`),
    path(trace_id, `links?${cursor}`),
  ]) {
    expect((await api.get(url)).body['code']).toBe('invalid_cursor')
  }
})
