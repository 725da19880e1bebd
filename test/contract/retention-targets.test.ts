import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type HotObservationStore,
  openClickHouseRetentionStore,
  openPostgresRetention,
  openPostgresStore,
  type RetentionSlice,
  type RetentionTarget,
} from '../../src/capabilities/storage/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { type HotWindow, openHotWindow } from '../support/hot-window.ts'
import { observationOf } from '../support/observations.ts'

const start = 1_790_000_000_000_000_000n
const hour = 3_600_000_000_000n
let hot: HotWindow

beforeAll(async () => {
  hot = await openHotWindow()
})
afterAll(() => hot?.close())

const stores = [
  {
    name: 'clickhouse',
    open: (): [HotObservationStore, RetentionTarget] => [
      hot.store,
      openClickHouseRetentionStore(hot),
    ],
  },
  {
    name: 'postgres',
    open: (): [HotObservationStore, RetentionTarget] => [
      openPostgresStore(hot),
      openPostgresRetention(hot),
    ],
  },
] as const

describe.each(stores)('$name', ({ open }) => {
  let store: HotObservationStore
  let target: RetentionTarget

  beforeAll(() => {
    ;[store, target] = open()
  })

  /** Six observations an hour apart, each in its own trace, of two environments. */
  async function sixHours(given: Partial<Parameters<typeof observationOf>[0]> = {}) {
    const project_id = newId()
    const rows = Array.from({ length: 6 }, (_, at) =>
      observationOf({
        project_id,
        trace_id: newId(),
        observation_id: `o${at}`,
        start_time: start + BigInt(at) * hour,
        environment: at % 2 === 0 ? 'prod' : 'dev',
        ...given,
      }),
    )
    await store.insert(rows, { token: newId() })
    const left = async () => {
      const found = await store.taskObservations(project_id, 'task-1', { limit: 100 })
      return found.map(({ observation_id }) => observation_id)
    }
    const slice = (about: Partial<RetentionSlice> = {}): RetentionSlice => ({
      project_id,
      kind: 'observations',
      from: start,
      to: start + 24n * hour,
      held_trace_ids: [],
      ...about,
    })
    return { project_id, rows, left, slice }
  }

  test('deletes what lies in a window and is not held', async () => {
    const { rows, left, slice } = await sixHours()
    const other = await sixHours()
    const held_trace_ids = [String(rows[1]?.trace_id)]
    await target.deleteRows(slice({ to: start + 3n * hour, held_trace_ids }))
    expect(await left()).toEqual(['o1', 'o3', 'o4', 'o5'])
    await target.deleteRows(slice({ environments: ['prod'] }))
    expect(await left()).toEqual(['o1', 'o3', 'o5'])
    await target.deleteRows(slice({ trace_ids: [String(rows[3]?.trace_id)] }))
    expect(await left()).toEqual(['o1', 'o5'])
    await target.deleteRows(slice({ stored_before_ms: 1 }))
    await target.deleteRows(slice({ kind: 'links' }))
    expect(await left()).toEqual(['o1', 'o5'])
    expect(await other.left()).toHaveLength(6)
  })

  test('masks content, and keeps measurements', async () => {
    const { project_id, rows, slice } = await sixHours({
      input: 'in',
      output: 'out',
      error_message: 'he said: …',
      tool_calls: [{ id: '1', name: 'search', arguments: '{"q":1}' }],
      tool_results: [{ tool_call_id: '1', content: 'found' }],
      attributes: {
        'gen_ai.prompt': 'in',
        'http.method': 'GET',
        'request.seed': '1',
        'request.x': 'y',
      },
      metadata: { tenant: 'acme' },
    })
    const held_trace_ids = [String(rows[0]?.trace_id)]
    for (let times = 0; times < 2; times++) await target.maskContent(slice({ held_trace_ids }))
    const [first, second] = [rows[0], rows[1]]
    if (!first || !second) throw new Error('no rows')
    expect(await store.observation(project_id, first)).toEqual(first)
    expect(await store.observation(project_id, second)).toEqual({
      ...second,
      input: '',
      output: '',
      error_message: '',
      content_state: 'expired',
      tool_calls: [{ id: '1', name: 'search', arguments: '' }],
      tool_results: [{ tool_call_id: '1', content: '' }],
      attributes: { 'http.method': 'GET', 'request.seed': '1' },
    })
  })

  test('erases a user, with rows of their traces that name no user', async () => {
    const { project_id, rows, left } = await sixHours()
    const named = rows.map((row, at) => ({
      ...row,
      observation_id: `u${at}`,
      user_id: `user-${at}`,
    }))
    await store.insert(named, { token: newId() })
    const traceOf = (at: number) => String(rows[at]?.trace_id)
    const about = { project_id, held_trace_ids: [] }
    expect(await target.tracesOfUser?.({ project_id, user_id: 'user-1', after: '' })).toEqual([
      traceOf(1),
    ])
    for (const after of [traceOf(1), 'f']) {
      expect(await target.tracesOfUser?.({ project_id, user_id: 'user-1', after })).toEqual([])
    }
    const erasure = { ...about, user_id: 'user-1', trace_ids: [traceOf(1)] }
    await target.eraseUser(erasure)
    await target.eraseUser(erasure)
    const without = (at: number) => (id: string) => id !== `o${at}` && id !== `u${at}`
    const all = [0, 1, 2, 3, 4, 5].flatMap((at) => [`o${at}`, `u${at}`])
    expect(await left()).toEqual(all.filter(without(1)))
    // A held trace is not among the traces; rows of another user stay.
    const held_trace_ids = [traceOf(2)]
    await target.eraseUser({ ...about, user_id: 'user-2', trace_ids: [], held_trace_ids })
    expect(await left()).toEqual(all.filter(without(1)))
    await target.eraseUser({ ...about, user_id: 'user-2', trace_ids: [traceOf(3)] })
    expect(await left()).toEqual(all.filter((id) => without(1)(id) && id !== 'o3'))
    const elsewhere = { ...about, project_id: newId(), user_id: 'user-4', trace_ids: [traceOf(4)] }
    await target.eraseUser(elsewhere)
    expect(await left()).toContain('u4')
  })

  test('handles thousands of rows, too', async () => {
    const project_id = newId()
    const rows = Array.from({ length: 5_500 }, (_, at) =>
      observationOf({ project_id, trace_id: newId(), observation_id: `o${at}`, start_time: start }),
    )
    await store.insert(rows, { token: newId() })
    const slice = { project_id, kind: 'observations', from: start, to: start + 1n } as const
    await target.maskContent({ ...slice, held_trace_ids: [] })
    await target.deleteRows({ ...slice, held_trace_ids: [] })
    expect(await store.taskObservations(project_id, 'task-1', { limit: 10 })).toEqual([])
  })
})
