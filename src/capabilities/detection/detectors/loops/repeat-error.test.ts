import { expect, test } from 'vitest'
import { type AgentRun, agentRun } from '../../../../../test/corpus/agent-run.ts'
import { foundBy } from '../../../../../test/support/detect-one.ts'
import { repeatError } from './repeat-error.ts'

const fail = (run: AgentRun, text = 'Error: date must be YYYY-MM-DD') =>
  run.tool({ name: 'book_flight', args: { day: '3.5.' } }, text)

function asked(name: string) {
  return agentRun(name).user('Book a flight.').tool({ name: 'find_flights' }, '[{"id":"TP44"}]')
}

test('three equal failing calls are a loop, with any error text', () => {
  const run = asked('three').times(3, (agent, at) => fail(agent, `Error: refused, code ${at}`))
  const [found] = foundBy(repeatError, run.assistant('It does not work.'))
  expect(found).toMatchObject({
    type: 'repeat_error',
    severity: 'medium',
    start_step: 1,
    end_step: 3,
    repeats: 3,
    evidence: { last_error: 'Error: refused, code 2' },
  })
})

test('five are high; a later success lowers the severity', () => {
  const five = (name: string) => asked(name).times(5, (agent) => fail(agent))
  expect(foundBy(repeatError, five('a').assistant('No.'))).toMatchObject([{ severity: 'high' }])
  const mended = five('b').tool({ name: 'book_flight', args: { day: '2027-05-03' } }, 'booked')
  expect(foundBy(repeatError, mended.assistant('Booked.'))).toMatchObject([
    { severity: 'low', recovered: true },
  ])
})

test.each<[string, (run: AgentRun) => AgentRun]>([
  ['a successful retry', (run) => fail(fail(run)).tool({ name: 'book_flight' }, 'booked')],
  [
    'outages',
    (run) => run.times(5, (agent) => fail(agent, 'Error: connect ETIMEDOUT 10.0.0.1:5432')),
  ],
  [
    'other arguments each time',
    (run) =>
      run.times(4, (agent, at) =>
        agent.tool({ name: 'read', args: { at } }, 'Error: no such page'),
      ),
  ],
  [
    'the user says to go on',
    (run) => run.times(3, (agent) => fail(agent).assistant('No.').user('Again')),
  ],
  ['waiting for three times', (run) => run.times(3, (agent) => fail(agent.wait(15_000)))],
])('no loop: %s', (name, write) => {
  expect(foundBy(repeatError, write(asked(name)).assistant('Done.'))).toEqual([])
})
