import { expect, test } from 'vitest'
import { observationOf } from '../../../../test/support/observations.ts'
import type { ObservationStore } from '../../storage/index.ts'
import { createChunks, readContents } from './content-chunks.ts'

const project_id = '0198c0de-0000-7000-8000-00000000000a'
const calls = ['a', 'b', 'c'].map((observation_id, index) =>
  observationOf({ project_id, observation_id, start_time: BigInt(index) }),
)
/** Three calls that are too large for one statement. */
const rows = calls.map((call) => ({ ...call, body_bytes: 1_000_000 }))

function storeOf(read: (id: string) => void) {
  const store: Pick<ObservationStore, 'observationsAt' | 'genAiEvents' | 'eventCounts'> = {
    genAiEvents: async () => [],
    eventCounts: async () => [],
    observationsAt: async (_project, ids) => {
      for (const { observation_id } of ids) read(observation_id)
      return calls.filter((call) => ids.some((id) => id.observation_id === call.observation_id))
    },
  }
  return store
}

test('reads all contents, by their size', async () => {
  const read: string[] = []
  const { signal } = new AbortController()
  const found = await readContents(
    storeOf((id) => read.push(id)),
    project_id,
    { rows, signal },
  )
  expect(found).toEqual(calls)
  expect(read).toEqual(['a', 'b', 'c'])
})

test('stops reading after the caller disconnected', async () => {
  const caller = new AbortController()
  const read: string[] = []
  const store = storeOf((id) => {
    read.push(id)
    caller.abort(new Error('gone'))
  })
  const asked = { rows, signal: caller.signal }
  await expect(readContents(store, project_id, asked)).rejects.toThrow('gone')
  expect(read).toEqual(['a'])
})

test('the first rows of a project tell how many of the next ones are read at once', () => {
  const unknown = Array.from({ length: 100 }, () => ({ body_bytes: 0 }))
  const sizesOf = (project: string) => {
    const chunks = createChunks(project)
    return [...chunks.split(unknown, (row) => row)].map((chunk) => chunk.length)
  }
  const learn = (...bodies: number[]) =>
    createChunks('p').learn(
      bodies.map((length) => observationOf({ project_id, input: 'x'.repeat(length) })),
    )
  expect(sizesOf('p')[0]).toBe(4)
  learn(100, 200)
  expect(sizesOf('p')).toEqual([100])
  expect(sizesOf('another')[0]).toBe(4)
  learn(...Array.from({ length: 9 }, () => 100), 2_000_000)
  expect(sizesOf('p')[0]).toBe(2)
})
