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

test('a refused change is a loop also with other steps or the user between', () => {
  const book = (run: AgentRun) => fail(run, 'Error: payment amount does not add up')
  const look = (run: AgentRun) => run.tool({ name: 'get_user' }, '{"id":7}')
  const [steps] = foundBy(
    repeatError,
    asked('steps')
      .times(3, (run) => look(book(run)))
      .assistant('No.'),
  )
  expect(steps).toMatchObject({ severity: 'medium', repeats: 3, start_step: 1, end_step: 5 })
  const talk = asked('talk').times(3, (run) => book(run).assistant('One moment.').user('ok'))
  expect(foundBy(repeatError, talk.assistant('No.'))).toMatchObject([
    { severity: 'medium', repeats: 3, summary: expect.stringContaining('“book_flight” failed 3') },
  ])
  const unknownVerb = asked('port').times(3, (run) =>
    run
      .tool({ name: 'port_in', args: { number: '0151' } }, '{"error":"INVALID_FORMAT"}')
      .assistant('One moment.')
      .user('ok'),
  )
  expect(foundBy(repeatError, unknownVerb.assistant('No.'))).toMatchObject([{ repeats: 3 }])
})

test.each<[string, (run: AgentRun) => AgentRun]>([
  ['two attempts', (run) => run.times(2, (agent) => fail(agent).assistant('No.').user('Hm.'))],
  [
    'another change succeeds between them',
    (run) =>
      run.times(3, (agent, at) => fail(agent).tool({ name: 'update_card', args: { at } }, 'ok')),
  ],
  [
    'the error differs',
    (run) =>
      run.times(3, (agent, at) =>
        fail(agent, `Error: ${['no seats', 'no card', 'no name'][at]}`)
          .assistant('No.')
          .user('Hm.'),
      ),
  ],
  [
    'the user agrees to each attempt',
    (run) =>
      run.times(3, (agent) => fail(agent).assistant('Shall I try it once more?').user('Yes.')),
  ],
  ...["I've topped up the card.", 'It should work now.', 'Ich habe die Karte entsperrt.'].map(
    (said): [string, (run: AgentRun) => AgentRun] => [
      `the user changed something outside: ${said}`,
      (run) => run.times(3, (agent) => fail(agent).assistant('No.').user(said)),
    ],
  ),
  [
    'a reading tool',
    (run) =>
      run.times(3, (agent) =>
        agent
          .tool({ name: 'get_order', args: { id: 7 } }, '{"error":"not found"}')
          .assistant('No.')
          .user('Hm.'),
      ),
  ],
])('no loop across the user: %s', (name, write) => {
  expect(foundBy(repeatError, write(asked(name)).assistant('Done.'))).toEqual([])
})
