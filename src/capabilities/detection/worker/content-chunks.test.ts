import { expect, test } from 'vitest'
import { observationOf } from '../../../../test/support/observations.ts'
import type { ObservationStore } from '../../storage/index.ts'
import { readContents } from './content-chunks.ts'

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
