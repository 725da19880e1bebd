import fc from 'fast-check'
import { expect, test } from 'vitest'
import { observationOf } from '../../../../test/support/observations.ts'
import { fuzzRuns } from '../../../../test/support/suite/budget.ts'
import type { Observation } from '../../../model/observation.ts'
import { placeRows } from '../traces/place-rows.ts'
import { placeAgain, type ReadAgain } from './repair-traces.ts'

const project_id = '0198c0de-0000-7000-8000-00000000000a'
const trace_id = '0198c0de-0000-7000-8000-000000000001'

type Said = { parent: number; task: string; user: string; isCall: boolean }

function rowOf({ parent, task, user, isCall }: Said, at: number): Observation {
  return observationOf({
    ...{ project_id, trace_id, observation_id: `s${at}`, source: 'otlp' },
    parent_observation_id: parent < 0 ? '' : `s${parent}`,
    ...{ task_id: task === '' ? trace_id : task, task_implicit: task === '', user_id: user },
    ...{ type: isCall ? 'generation' : 'agent', model: 'm', model_requested: 'm' },
  })
}

/** Trees of spans, whose parents may be missing. */
const trees = fc.array(
  fc.record({
    parent: fc.integer({ min: -1, max: 9 }),
    task: fc.constantFrom('', '', 'T', 'U'),
    user: fc.constantFrom('', '', 'ann', 'bob'),
    isCall: fc.boolean(),
  }),
  { minLength: 1, maxLength: 8 },
)

function applied(rows: readonly Observation[], changes: ReturnType<typeof placeAgain>['changes']) {
  const to = new Map<object, object>(changes.map((change) => [change.row, change.to]))
  return rows.map((row) => ({ ...row, ...to.get(row) }))
}

test('with any guess before, rows end as what they say leads to, and stay so', () => {
  fc.assert(
    fc.property(trees, fc.infiniteStream(fc.constantFrom('', 'T', 'eve')), (tree, guesses) => {
      const said = tree.map(rowOf)
      const byId = new Map(said.map((row) => [row.observation_id, row]))
      const readAgain: ReadAgain = (row) => {
        const { task_id, task_name, task_implicit, user_id, release } = byId.get(
          row.observation_id,
        ) as Observation
        const talk = { conversation_id: '', conversation_external_id: '' }
        return {
          owner: { task_id, task_name, task_implicit, user_id, release, ...talk },
          usage: row,
        }
      }
      const guess = () => guesses.next().value ?? ''
      const stored = said.map((row) => {
        const [user, task] = [guess(), guess()]
        return {
          ...row,
          ...(row.user_id === '' && { user_id: user }),
          ...(row.task_implicit && task !== '' && { task_id: task, task_implicit: false }),
        }
      })
      const wanted = applied(said, placeRows(said, []).changes)
      const first = applied(stored, placeAgain(stored, [], readAgain).changes)
      expect(first).toEqual(wanted)
      expect(placeAgain(first, [], readAgain).changes).toEqual([])
    }),
    { numRuns: fuzzRuns(1_000), endOnFailure: true },
  )
})

test('a call that a record of another trace counts stays so', () => {
  const row = { ...rowOf({ parent: -1, task: 'T', user: '', isCall: true }, 0), counted_with: 'x' }
  const asStored: ReadAgain = (one) => ({ owner: one, usage: one })
  expect(placeAgain([row], [], asStored).changes).toEqual([])
})
