import { expect, test } from 'vitest'
import { observationOf } from '../../../../test/support/observations.ts'
import type { Observation } from '../../../model/observation.ts'
import type { ObservationVersion } from '../../storage/index.ts'
import { reconstruct } from '../reconstruction/index.ts'
import { type HistoryRequest, readHistories } from './read-histories.ts'
import type { TaskHistory } from './task-history.ts'

const project_id = '0198c0de-0000-7000-8000-00000000000a'
const task = { project_id, task_id: 'task-1', conversation_id: '' }
const second = 1_000_000_000n
const start = 1_790_000_000n * second

function exchange(at_ms: number, more: Partial<Observation>): Observation {
  return observationOf({
    ...{ project_id, task_id: 'task-1' },
    start_time: start + BigInt(at_ms) * 1_000_000n,
    ...more,
  })
}

const text = (role: string, content: string) => JSON.stringify([{ role, content }])

/** A call in the background; the provider states its start in seconds, so it can be before the request. */
function background(at_ms: number, id: string, retrieved_ms: number): Observation[] {
  return [
    exchange(at_ms, {
      ...{ observation_id: `begun-${id}`, response_id: id, usage_source: 'none' },
      ...{ input: text('user', `Question ${id}`), counted_with: `retrieved-${id}` },
    }),
    exchange(retrieved_ms, {
      ...{ observation_id: `retrieved-${id}`, response_id: id, input: '' },
      output: text('assistant', `Answer ${id}`),
    }),
  ]
}

const rows = [...background(350, 'r1', 0), ...background(9_990, 'r2', 10_000)]

/** A store of these rows that answers as the real one, in the order of their starts. */
function storeOf(stored: readonly Observation[]) {
  const inOrder = stored.toSorted((a, b) => (a.start_time < b.start_time ? -1 : 1))
  return {
    taskVersions: async () =>
      inOrder.map(
        (row): ObservationVersion => ({
          ...row,
          stored_at_ms: 1,
          body_bytes: row.input.length + row.output.length,
        }),
      ),
    observationsAt: async (_project: string, places: readonly { observation_id: string }[]) =>
      inOrder.filter((row) => places.some((one) => one.observation_id === row.observation_id)),
    genAiEvents: async () => [],
    eventCounts: async () => [],
  }
}

async function readOne(
  stored: readonly Observation[],
  { history, chunk_bytes }: { history?: TaskHistory | undefined; chunk_bytes: number },
) {
  const request: HistoryRequest = { ...task, epoch: '', from: 0n, calls: 0, history }
  const read = await readHistories(storeOf(stored), project_id, [request], { chunk_bytes })
  return read.get(request)
}

const chunkSizes = [1, 60, 100_000]

test.each(chunkSizes)(
  'calls in the background have their input in chunks of %i bytes',
  async (chunk_bytes) => {
    const history = await readOne(rows, { chunk_bytes })
    expect(history?.run()).toEqual(reconstruct(rows, task))
    const texts = history?.run().messages.map((message) => message.text)
    expect(texts).toEqual(['Question r1', 'Answer r1', 'Question r2', 'Answer r2'])
  },
)

test.each(chunkSizes)(
  'also when one of their rows comes later, chunks of %i bytes',
  async (chunk_bytes) => {
    for (const late of rows) {
      const first = rows.filter((row) => row !== late)
      const history = await readOne(first, { chunk_bytes })
      const all = await readOne(rows, { chunk_bytes, history })
      expect(all?.run(), late.observation_id).toEqual(reconstruct(rows, task))
    }
  },
)

test('new tasks are read together, and beside them one that has to be read anew', async () => {
  const tasks = Array.from({ length: 20 }, (_, index) => `task-${index}`)
  const stored = tasks.flatMap((task_id, index) => [
    exchange(index, { task_id, observation_id: `${task_id}-a`, input: text('user', task_id) }),
    exchange(index + 500, { task_id, observation_id: `${task_id}-b`, input: text('user', 'And?') }),
  ])
  const store = storeOf(stored)
  const statements: string[] = []
  const counting = {
    ...store,
    taskVersions: () => {
      statements.push('versions')
      return store.taskVersions()
    },
    observationsAt: (...asked: Parameters<typeof store.observationsAt>) => {
      statements.push('contents')
      return store.observationsAt(...asked)
    },
  }
  const requestOf = (task_id: string): HistoryRequest => ({
    ...{ project_id, task_id, conversation_id: '', epoch: '', from: 0n, calls: 2 },
    history: undefined,
  })
  const known = await readHistories(store, project_id, [requestOf('task-0')])
  const history = [...known.values()][0]
  const requests = [{ ...requestOf('task-0'), history, calls: 5 }, ...tasks.slice(1).map(requestOf)]
  statements.length = 0
  const read = await readHistories(counting, project_id, requests)
  expect(statements).toEqual(['versions', 'versions', 'contents'])
  for (const request of requests) {
    const own = stored.filter(({ task_id }) => task_id === request.task_id)
    const { task_id } = request
    expect(read.get(request)?.run()).toEqual(reconstruct(own, { ...task, task_id }))
  }
  expect(read.get(requests[0] as HistoryRequest)?.calls_missing).toBe(3)
})
