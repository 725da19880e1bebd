import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { encodeCursor } from '../../src/kernel/pages.ts'
import { observationOf } from '../support/observations.ts'
import { openQueryApi, type QueryApi } from '../support/query-api.ts'
import { queryStart } from '../support/query-records.ts'
import { keyOf } from '../support/task-api.ts'

const window = { from: '2026-09-21T14:00:00Z', to: '2026-09-21T16:00:00Z' }
const second = 1_000_000_000n
let api: QueryApi
beforeAll(async () => {
  api = await openQueryApi()
})
afterAll(() => api?.[Symbol.asyncDispose]())

/** Records of a separate project, one a second. */
async function projectWith(count: number) {
  const project_id = newId()
  const headers = keyOf(project_id, 'query:run')
  const record = (at: number) =>
    observationOf({
      project_id,
      observation_id: `o${String(at).padStart(3, '0')}`,
      start_time: queryStart + BigInt(at) * second,
      model: `m-${at % 3}`,
      cost_usd: at % 4 === 0 ? null : `0.${at}`,
    })
  await api.insert(Array.from({ length: count }, (_, at) => record(at)))
  return { project_id, headers, record }
}

const body = { entity: 'observations', window, select: ['observation_id'], limit: 7 }
const idsOf = ({ rows }: { rows: { observation_id: string }[] }) =>
  rows.map(({ observation_id }) => observation_id)

describe('pages', () => {
  test.each([
    ['the latest first', undefined],
    ['the earliest first', [{ field: 'start_time', direction: 'asc' }]],
    ['what many have in common', [{ field: 'model', direction: 'asc' }]],
    ['what is not always known', [{ field: 'cost_usd', direction: 'desc' }]],
  ])('in the order of %s hold every record once, while others arrive', async (_order, order_by) => {
    const { headers, record } = await projectWith(40)
    const seen: string[] = []
    let cursor: string | null = null
    for (let page = 0; page === 0 || (cursor !== null && page < 60); page++) {
      const asked = { ...body, ...(order_by && { order_by }), ...(cursor && { cursor }) }
      const reply = await api.call('query', asked, { headers })
      expect(reply.status).toBe(200)
      seen.push(...idsOf(reply.body))
      cursor = reply.body.next_cursor
      await api.insert([record(100 + page)])
    }
    const first = seen.filter((id) => id < 'o040')
    expect(first.toSorted()).toEqual(
      Array.from({ length: 40 }, (_, at) => `o${String(at).padStart(3, '0')}`),
    )
    expect(new Set(seen).size).toBe(seen.length)
  })

  test('of tasks in PostgreSQL too', async () => {
    for (let at = 0; at < 9; at++) {
      const started_at = new Date(Date.UTC(2026, 8, 21, 14, at)).toISOString()
      await api.insertTask({ task_id: `t${at}`, started_at })
    }
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const asked = {
        entity: 'tasks',
        window,
        select: ['task_id'],
        limit: 4,
        ...(cursor && { cursor }),
      }
      const { body: page } = await api.call('query', asked)
      seen.push(...page.rows.map(({ task_id }: { task_id: string }) => task_id))
      cursor = page.next_cursor ?? undefined
    } while (cursor)
    expect(seen).toEqual(['t8', 't7', 't6', 't5', 't4', 't3', 't2', 't1', 't0'])
  })
})

describe('a cursor', () => {
  test('belongs to one query and one project', async () => {
    const { headers } = await projectWith(20)
    const { body: page } = await api.call('query', body, { headers })
    const cursor = page.next_cursor
    const goesOn = async (change: object, as = headers) => {
      const reply = await api.call('query', { ...body, cursor, ...change }, { headers: as })
      return reply.body.code ?? reply.status
    }
    expect(await goesOn({})).toBe(200)
    expect(await goesOn({ limit: 3 })).toBe(200)
    expect(await goesOn({ order_by: [{ field: 'start_time', direction: 'asc' }] })).toBe(
      'invalid_cursor',
    )
    expect(await goesOn({ where: { field: 'model', op: 'eq', value: 'm-1' } })).toBe(
      'invalid_cursor',
    )
    expect(await goesOn({ window: { ...window, to: '2026-09-21T15:59:59Z' } })).toBe(
      'invalid_cursor',
    )
    expect(await goesOn({ entity: 'traces', select: ['trace_id'] })).toBe('invalid_cursor')
    expect(await goesOn({}, keyOf(newId(), 'query:run'))).toBe('invalid_cursor')
    const explained = await api.call('query/explain', { ...body, cursor, limit: 3 }, { headers })
    expect(explained.status).toBe(200)
  })

  test('that was forged is refused', async () => {
    const { headers } = await projectWith(20)
    const { body: page } = await api.call('query', body, { headers })
    const [list = '', ...position] = JSON.parse(
      Buffer.from(page.next_cursor, 'base64url').toString(),
    ) as string[]
    const [time = '', trace = '', id = ''] = position
    for (const forged of [
      ['x', trace, id],
      ['-1', trace, id],
      ['99999999999999999999', trace, id],
      [time, 'no id', id],
      [time, trace, 'a\u0000'],
      [time, trace],
      [time, trace, id, id],
      [1, trace, id],
    ]) {
      const cursor = encodeCursor(list, forged)
      const reply = await api.call('query', { ...body, cursor }, { headers })
      expect([forged, reply.status, reply.body.code]).toEqual([forged, 400, 'invalid_cursor'])
    }
    for (const cursor of ['x', 'e30', 'W10']) {
      const reply = await api.call('query', { ...body, cursor }, { headers })
      expect(reply.body.code).toBe('invalid_cursor')
    }
  })
})
