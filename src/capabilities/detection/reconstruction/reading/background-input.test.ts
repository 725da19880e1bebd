import { expect, test } from 'vitest'
import { observationOf } from '../../../../../test/support/observations.ts'
import type { Observation } from '../../../../model/observation.ts'
import { createReconstruction, reconstruct } from '../reconstruction.ts'

const project_id = '0198c0de-0000-7000-8000-00000000000a'
const task = { project_id, task_id: 'task-1', conversation_id: '' }
const second = 1_000_000_000n
const start = 1_790_000_000n * second
const call = { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{}' } }
const asked = { role: 'user', content: 'Is it sunny?' }

function exchange(at: number, more: Partial<Observation>): Observation {
  return observationOf({ project_id, start_time: start + BigInt(at) * second, ...more })
}

/** Two calls in the background, each begun by one exchange and retrieved by another. */
const rows: Observation[] = [
  exchange(0, {
    ...{ observation_id: 'b1', response_id: 'r1', usage_source: 'none', finish_reason: 'queued' },
    input: JSON.stringify([asked]),
    counted_with: 'retrieved-1',
  }),
  exchange(0, {
    ...{
      observation_id: 'retrieved-1',
      response_id: 'r1',
      tool_calls: [{ id: 'c1', name: 'weather', arguments: '{}' }],
    },
    output: JSON.stringify([{ role: 'assistant', content: null, tool_calls: [call] }]),
  }),
  exchange(10, {
    ...{ observation_id: 'b2', response_id: 'r2', usage_source: 'none', finish_reason: 'queued' },
    input: JSON.stringify([{ type: 'function_call_output', call_id: 'c1', output: 'sunny' }]),
    tool_results: [{ tool_call_id: 'c1', content: 'sunny' }],
    counted_with: 'retrieved-2',
  }),
  exchange(10, {
    ...{ observation_id: 'retrieved-2', response_id: 'r2' },
    output: JSON.stringify([{ role: 'assistant', content: 'Yes.' }]),
  }),
]

test('a background call has the input of one exchange and the output of another', () => {
  const run = reconstruct(rows, task)
  expect(run.calls).toHaveLength(2)
  expect(run.messages.map(({ text }) => text)).toContain('Is it sunny?')
  expect(run.tools).toMatchObject([
    { name: 'weather', tool_call_id: 'c1', is_answered: true, result: 'sunny' },
  ])
})

test('rows that come again unchanged change nothing', () => {
  const reconstruction = createReconstruction(task)
  expect(reconstruction.add(rows)).toBe('added')
  expect(reconstruction.add(rows)).toBe('added')
  expect(reconstruction.run()).toEqual(reconstruct(rows, task))
})

test.each([
  ['the request first', rows],
  ['the answer first', rows.toReversed()],
])('a row of a call whose other row was added before needs all rows: %s', (_order, given) => {
  const inOrder = given.map((row, at) => ({ ...row, start_time: start + BigInt(at) * second }))
  const reconstruction = createReconstruction(task)
  const added = inOrder.slice(0, 2).map((row) => reconstruction.add([row]))
  expect(added).toEqual(['added', 'rebuild'])
  const joined = createReconstruction(task)
  for (const row of inOrder) expect(joined.add([row], { beside: inOrder })).toBe('added')
  expect(joined.run()).toEqual(reconstruct(inOrder, task))
  // With all rows there is nothing more to know: the other row can be deleted.
  const whole = createReconstruction(task)
  for (const row of inOrder) expect(whole.add([row], { is_whole: true })).toBe('added')
})
