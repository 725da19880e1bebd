import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { reconstruct } from '../../src/capabilities/detection/reconstruction/index.ts'
import { createTimelineBuilder } from '../../src/capabilities/tasks/build-timeline.ts'
import { toolCallsOf } from '../../src/capabilities/tasks/tool-calls.ts'
import { newId } from '../../src/kernel/ids.ts'
import { isoFromNs } from '../../src/kernel/time.ts'
import type { Observation } from '../../src/model/observation.ts'
import { openTestStore, type TestStore } from '../support/observation-store.ts'
import { testPostgres } from '../support/postgres.ts'
import { fuzzRuns } from '../support/suite/budget.ts'
import { now_ms, openTaskApi, type TaskApi } from '../support/task-api.ts'
import { rowsOfTurns, taskTurns } from '../support/task-histories.ts'

let stores: TestStore
let api: TaskApi
/** Pages read little around what they show, as those of a task of thousands of calls do. */
const windows = { whole_rows_max: 3, before_rows: 40, after_rows: 20 }
beforeAll(async () => {
  const [url, opened] = await Promise.all([testPostgres(), openTestStore()])
  stores = opened
  api = await openTaskApi({ url, store: stores.store, settings: { windows } })
})
afterAll(async () => {
  await api?.[Symbol.asyncDispose]()
  await stores?.close()
})

const started_ns = BigInt(now_ms - 3_600_000) * 1_000_000n

type Events = { id: string; kind: 'created' | 'late_activity'; at: string }[]

/** The whole timeline, as one builds it that has all rows. */
function naiveTimeline(rows: readonly Observation[], events: Events) {
  const builder = createTimelineBuilder({ gap_min_ms: 5_000, text_length_max: 2_000 })
  builder.add(rows.toSorted(byStart))
  const about = { project_id: api.project_id, actor_kind: 'worker', actor_id: null, note: null }
  const stored = events.map((event) => ({ ...event, ...about, task_id: '' }))
  const run = reconstruct(rows)
  return builder.finish(run, stored).map(({ entry }) => entry)
}

function byStart(a: Observation, b: Observation): number {
  if (a.start_time !== b.start_time) return a.start_time < b.start_time ? -1 : 1
  return a.observation_id < b.observation_id ? -1 : 1
}

/**
 * Returns an entry of the timeline without its step and findings: a late page of a long task does not
 * know its steps.
 */
function withoutMarks(entry: unknown): object {
  const { step, step_number, findings = [], ...rest } = entry as Record<string, unknown>
  expect(step_number).toBe(typeof step === 'number' ? step + 1 : step)
  expect(findings).toEqual([])
  return rest
}

/** The asked size of pages, or a larger one, so that a long task has at most about 60 pages. */
const sizeOf = (limit: number, rows: readonly Observation[]) =>
  Math.max(limit, Math.ceil(rows.length / 60))

async function pagesOf(path: string, list: string, limit: number): Promise<unknown[]> {
  const all: unknown[] = []
  let cursor = ''
  for (let page = 0; page < 500; page++) {
    const { status, body } = await api.get(`${path}?limit=${limit}${cursor}`)
    expect(status).toBe(200)
    all.push(...(body[list] as unknown[]))
    if (body['next_cursor'] === null) return all
    cursor = `&cursor=${body['next_cursor']}`
  }
  throw new Error('the pages have no end')
}

async function store(rows: readonly Observation[], events: Events): Promise<string> {
  const task_id = newId()
  const last = rows.toSorted((a, b) => Number(a.end_time - b.end_time)).at(-1)?.end_time ?? 0n
  const calls = rows.filter(({ type }) => type === 'generation').length
  const times = { started_at: isoFromNs(started_ns), last_activity_at: isoFromNs(last) }
  await api.seedTask({ task_id, ...times, calls })
  for (const event of events) {
    await api.db
      .insertInto('task_events')
      .values({ ...event, project_id: api.project_id, task_id, actor_kind: 'worker' })
      .execute()
  }
  const own = rows.map((row) => ({ ...row, task_id }))
  await stores.store.insert(own.slice(0, 7).toReversed(), { token: randomUUID() })
  await stores.store.insert(own, { token: randomUUID() })
  return task_id
}

const about = () => ({ project_id: api.project_id, task_id: 't', start_time: started_ns })

test('pages of a timeline put together are the whole, of any size', async () => {
  const asked = fc.tuple(taskTurns, fc.constantFrom(1, 2, 3, 7, 20, 64), fc.array(fc.nat(60_000)))
  await fc.assert(
    fc.asyncProperty(asked, async ([turns, limit, times]) => {
      const rows = rowsOfTurns(turns, about())
      const events: Events = times.slice(0, 3).map((at_ms, n) => ({
        ...{ id: newId(), kind: n === 0 ? 'created' : 'late_activity' },
        at: isoFromNs(n === 0 ? started_ns : started_ns + BigInt(at_ms) * 1_000_000n),
      }))
      const task_id = await store(rows, events)
      const size = sizeOf(limit, rows)
      const shown = await pagesOf(`/api/v1/tasks/${task_id}/timeline`, 'entries', size)
      expect(shown.map(withoutMarks)).toEqual(naiveTimeline(rows, events))
    }),
    { numRuns: fuzzRuns(12), endOnFailure: true },
  )
}, 180_000)

test('a page has the result of a tool call that an earlier page asked for, after other results of it', async () => {
  const quiet = { length_ms: 10, pause_ms: 20, status: 'ok', beside: null } as const
  const asks = ([3, 0] as const).map((after_turns) => {
    return { by: 'call', after_turns, length_ms: 5 } as const
  })
  const turns = Array.from({ length: 60 }, (_, at) => {
    return { ...quiet, lane: at % 12 === 0 ? 0 : 1, tools: at === 0 ? asks : [] }
  })
  const rows = rowsOfTurns({ turns, has_history: true }, about())
  const task_id = await store(rows, [])
  const shown = await pagesOf(`/api/v1/tasks/${task_id}/timeline`, 'entries', 5)
  expect(shown.map(withoutMarks)).toEqual(naiveTimeline(rows, []))
})

test('pages of tool calls put together are the whole, of any size', async () => {
  const asked = fc.tuple(taskTurns, fc.constantFrom(1, 2, 3, 7, 20, 64))
  await fc.assert(
    fc.asyncProperty(asked, async ([turns, limit]) => {
      const rows = rowsOfTurns(turns, about())
      const task_id = await store(rows, [])
      const size = sizeOf(limit, rows)
      const shown = await pagesOf(`/api/v1/tasks/${task_id}/tool-calls`, 'tool_calls', size)
      expect(shown).toEqual(toolCallsOf(reconstruct(rows)))
    }),
    { numRuns: fuzzRuns(12), endOnFailure: true },
  )
}, 180_000)
