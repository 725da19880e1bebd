import { expect, test } from 'vitest'
import { observationOf } from '../../../test/support/observations.ts'
import type { ObservationStore } from '../storage/index.ts'
import { readTaskRun } from './analyse-now.ts'

const project_id = '0198c0de-0000-7000-8000-00000000000a'
const started_ms = 1_790_000_000_000
const task = {
  ...{ project_id, task_id: 'task-1', conversation_id: '', calls: 3 },
  started_at: new Date(started_ms).toISOString(),
}
const calls = ['a', 'b', 'c'].map((observation_id, index) =>
  observationOf({
    ...{ project_id, observation_id },
    start_time: BigInt(started_ms + index) * 1_000_000n,
    tool_calls: [{ id: observation_id, name: 'find', arguments: '{}' }],
  }),
)

/** A store of three calls that are too large for one statement. */
function storeOf(read: (id: string) => void) {
  const store: Pick<ObservationStore, 'taskVersions' | 'observationsAt'> = {
    taskVersions: async () =>
      calls.map((call) => ({ ...call, stored_at_ms: started_ms, body_bytes: 1_000_000 })),
    observationsAt: async (_project, ids) => {
      for (const { observation_id } of ids) read(observation_id)
      return calls.filter((call) => ids.some((id) => id.observation_id === call.observation_id))
    },
  }
  return store
}

test('reads a whole task', async () => {
  const read: string[] = []
  const store = storeOf((id) => read.push(id))
  const { tools } = await readTaskRun(store, task, new AbortController().signal)
  expect(tools.map(({ tool_call_id }) => tool_call_id)).toEqual(['a', 'b', 'c'])
  expect(read).toEqual(['a', 'b', 'c'])
})

test('stops reading after the caller disconnected', async () => {
  const caller = new AbortController()
  const read: string[] = []
  const store = storeOf((id) => {
    read.push(id)
    caller.abort(new Error('gone'))
  })
  await expect(readTaskRun(store, task, caller.signal)).rejects.toThrow('gone')
  expect(read).toEqual(['a'])
})
