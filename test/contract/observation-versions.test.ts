import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ObservationStore, ObservationVersion } from '../../src/capabilities/storage/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import type { Observation } from '../../src/model/observation.ts'
import { type SuiteStore, suiteStores } from '../support/observation-stores.ts'
import { observationOf } from '../support/observations.ts'

const start = 1_790_000_000_000_000_000n
const second = 1_000_000_000n

const [withRollups] = suiteStores.filter(({ capabilities }) => capabilities.rollups)
let suite: SuiteStore
let store: ObservationStore
beforeAll(async () => {
  if (withRollups === undefined) throw new Error('no store says that it has the whole port')
  suite = await withRollups.open()
  if (suite.rollups === undefined) throw new Error('it says that it has the whole port')
  store = suite.rollups
})
afterAll(() => suite?.close())

/** Observations of a task, one a second, some at the same instant. */
function callsOf(project_id: string, task_id: string, count: number): Observation[] {
  return Array.from({ length: count }, (_, at) =>
    observationOf({
      ...{ project_id, task_id, trace_id: newId(), observation_id: `o${at}` },
      start_time: start + BigInt(Math.floor(at / 2)) * second,
      input: `said ${at}`,
      user_id: `u-${at}`,
    }),
  )
}

const hints = (...ids: string[]) => ids.map((task_id) => ({ task_id, from: start }))
const placeOf = ({ task_id, observation_id }: ObservationVersion) => `${task_id} ${observation_id}`

test('versions of many tasks are returned in order, page by page, each once', async () => {
  const project_id = newId()
  const all = [...callsOf(project_id, 'a', 5), ...callsOf(project_id, "b' {x:String}", 4)]
  await store.insert(all.toReversed(), { token: newId() })
  await store.insert(all.slice(2), { token: newId() })
  await store.insert(callsOf(project_id, 'not asked for', 1), { token: newId() })
  const tasks = hints('a', "b' {x:String}")
  const seen: ObservationVersion[] = []
  for (let pages = 0; pages < 9; pages += 1) {
    const last = seen.at(-1)
    const page = await store.taskVersions(project_id, {
      ...(last && { after: last }),
      ...{ tasks, limit: 2 },
    })
    seen.push(...page)
    if (page.length < 2) break
  }
  expect(seen.map(placeOf)).toEqual(all.map((row) => `${row.task_id} ${row.observation_id}`))
  expect(seen[0]).toMatchObject({
    type: 'generation',
    message_id: 'm1',
    user_id: 'u-0',
    start_time: start,
    body_bytes: 300,
  })
})

test('versions can be read since an instant of the store, and name the latest message', async () => {
  const project_id = newId()
  const [first, second_one] = callsOf(project_id, 'a', 2)
  if (first === undefined || second_one === undefined) throw new Error('two calls')
  await store.insert([first], { token: newId() })
  const [stored] = await store.taskVersions(project_id, { tasks: hints('a'), limit: 10 })
  const stored_from_ms = (stored?.stored_at_ms ?? 0) + 1
  await new Promise((resolve) => setTimeout(resolve, 5))
  await store.insert([{ ...first, message_id: 'm2' }, second_one], { token: newId() })
  const since = await store.taskVersions(project_id, {
    ...{ tasks: hints('a'), stored_from_ms, limit: 10 },
  })
  expect(since.map((row) => [row.observation_id, row.message_id])).toEqual([
    ['o0', 'm2'],
    ['o1', 'm1'],
  ])
  const later = { tasks: hints('a'), stored_from_ms: stored_from_ms + 3_600_000, limit: 10 }
  expect(await store.taskVersions(project_id, later)).toEqual([])
})

test('observations are returned by their identities, complete and in their latest version', async () => {
  const project_id = newId()
  const all = callsOf(project_id, 'a', 6)
  await store.insert(all, { token: newId() })
  const changed = { ...all[1], output: 'told anew', message_id: 'm2' } as Observation
  await store.insert([changed], { token: newId() })
  const wanted = [all[4], all[1]].flatMap((row) => row ?? [])
  const got = await store.observationsAt(project_id, wanted)
  expect(got.toSorted((a, b) => (a.observation_id < b.observation_id ? -1 : 1))).toEqual([
    changed,
    all[4],
  ])
  const strangers = { ...all[0], observation_id: 'o5' } as Observation
  expect(await store.observationsAt(project_id, [strangers])).toEqual([])
  expect(await store.observationsAt(project_id, [])).toEqual([])
})

test('rows of another project are not returned, and too large requests are refused', async () => {
  const project_id = newId()
  const [row] = callsOf(project_id, 'a', 1)
  if (row === undefined) throw new Error('one call')
  await store.insert([row], { token: newId() })
  expect(await store.taskVersions(newId(), { tasks: hints('a'), limit: 10 })).toEqual([])
  expect(await store.observationsAt(newId(), [row])).toEqual([])
  const many = Array.from({ length: 1_001 }, () => row)
  await expect(store.observationsAt(project_id, many)).rejects.toThrow('at most 1000')
  const tasks = Array.from({ length: 251 }, (_, at) => ({ task_id: `t${at}`, from: start }))
  await expect(store.taskVersions(project_id, { tasks, limit: 1 })).rejects.toThrow('at most 250')
})
