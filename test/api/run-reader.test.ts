import { afterAll, beforeAll, expect, test } from 'vitest'
import { openRunReader } from '../../src/capabilities/detection/index.ts'
import type { ObservationStore } from '../../src/capabilities/storage/index.ts'
import { agentRun } from '../corpus/agent-run.ts'
import { type DetectionBench, openDetectionBench } from '../support/detection.ts'

let bench: DetectionBench
beforeAll(async () => {
  bench = await openDetectionBench()
})
afterAll(() => bench?.[Symbol.asyncDispose]())

const calls = 6
const never = new AbortController().signal

/** Stores a task of some calls, each of them large enough for a statement of its own. */
async function bringTask() {
  const project_id = await bench.newProject()
  const run = agentRun(project_id, { project_id, task_id: 'task', tools: ['look'] }).user('Look.')
  run.times(calls, (one, at) => one.tool({ name: 'look', args: { at } }, `result ${at}`))
  const rows = run.observations().map((row) => ({ ...row, request_bytes: 6_000_000 }))
  await bench.bring(rows)
  return { rows, task: { project_id, task_id: 'task' } }
}

/** Opens a reader that counts the observations whose content it reads. */
function countingReader(now_ms = () => 0, before = (_read: number) => {}) {
  const counts = { read: 0 }
  const store: ObservationStore = {
    ...bench.store,
    observationsAt: async (project_id, ids, signal) => {
      before(counts.read)
      const rows = await bench.store.observationsAt(project_id, ids, signal)
      counts.read += rows.length
      return rows
    },
  }
  return { counts, reader: openRunReader({ db: bench.db, store, clock: { now_ms } }) }
}

test('a run is read once, and grows by what is new', async () => {
  const { rows, task } = await bringTask()
  const { counts, reader } = countingReader()
  const countCalls = () => reader.read({ task, signal: never }, (run) => run.calls.length)
  expect(await countCalls()).toBe(calls)
  expect(await countCalls()).toBe(calls)
  expect(counts.read).toBe(calls)
  const last = rows.at(-1)
  if (last === undefined) throw new Error('no rows')
  const later = { ...last, observation_id: 'ffffffffffffffff', start_time: last.end_time + 1n }
  await bench.bring([{ ...later, end_time: later.start_time + 1n }])
  expect(await countCalls()).toBe(calls + 1)
  expect(counts.read).toBe(calls + 1)
})

test('a request that ends early leaves what it read to the next one', async () => {
  const { task } = await bringTask()
  const leaving = new AbortController()
  const { counts, reader } = countingReader(
    () => 0,
    (read) => {
      if (read >= 3) leaving.abort(new Error('the client left'))
    },
  )
  const first = reader.read({ task, signal: leaving.signal }, (run) => run.calls.length)
  await expect(first).rejects.toThrow('the client left')
  const before = counts.read
  expect(before).toBeGreaterThanOrEqual(3)
  expect(before).toBeLessThan(calls)
  expect(await reader.read({ task, signal: never }, (run) => run.calls.length)).toBe(calls)
  expect(counts.read).toBe(calls)
})

test('a run is read again after a minute, because retention may have taken content', async () => {
  const { task } = await bringTask()
  let now_ms = 1_000
  const { counts, reader } = countingReader(() => now_ms)
  const read = () => reader.read({ task, signal: never }, (run) => run.calls.length)
  await read()
  now_ms += 59_000
  await read()
  expect(counts.read).toBe(calls)
  now_ms += 2_000
  await read()
  expect(counts.read).toBe(2 * calls)
})

test('a task that is not there, and one of another project', async () => {
  const { task } = await bringTask()
  const { reader } = countingReader()
  const other = { project_id: await bench.newProject(), task_id: task.task_id }
  expect(await reader.read({ task: other, signal: never }, (run) => run)).toBeUndefined()
})
