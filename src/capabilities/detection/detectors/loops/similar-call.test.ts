import { expect, test } from 'vitest'
import { type AgentRun, agentRun } from '../../../../../test/corpus/agent-run.ts'
import { foundBy } from '../../../../../test/support/detect-one.ts'
import { similarCall } from './similar-call.ts'

function asked(name: string) {
  return agentRun(name).user('How do I reset the pump?').tool({ name: 'list_books' }, 'manual')
}

const orders = [
  'reset pump DX4',
  'DX4 pump reset',
  'pump, reset DX4',
  'DX4 reset: pump',
  'Reset DX4 pump',
]
const search = (run: AgentRun, query = '', result = 'No results.') =>
  run.tool({ name: 'kb_search', args: { query } }, result)

test('five word orders with the same result are a loop', () => {
  const run = asked('five').times(5, (agent, at) => search(agent, orders[at]))
  expect(foundBy(similarCall, run.assistant('No.'))).toMatchObject([
    {
      type: 'similar_call',
      severity: 'medium',
      start_step: 1,
      end_step: 5,
      repeats: 5,
      evidence: { different_calls: 5 },
    },
  ])
})

const long =
  'country Portugal city Lisbon guests two adults room double balcony river board breakfast pool sauna gym lift'

test('long arguments that differ in a one-word value are low', () => {
  const words = ['cheap', 'budget', 'low', 'modest', 'fair']
  const run = asked('word').times(5, (agent, at) =>
    agent.tool({ name: 'hotel_search', args: { filters: long, price: words[at] } }, '[]'),
  )
  expect(foundBy(similarCall, run.assistant('No.'))).toMatchObject([{ severity: 'low' }])
})

test.each<[string, (run: AgentRun, at: number) => AgentRun]>([
  ['only four', (run, at) => (at < 4 ? search(run, orders[at]) : run)],
  ['the results differ', (run, at) => search(run, orders[at % 5], `hit ${at}`)],
  ['pages of a long question', (run, at) => search(run, `${long} page ${at}`)],
  [
    'ids are counted up',
    (run, at) => run.tool({ name: 'check', args: { filters: long, id: at } }, 'valid'),
  ],
  ['other questions', (run, at) => search(run, `question number ${'abcdefgh'[at]} of mine`)],
  ['the same call', (run) => search(run, 'reset pump')],
  [
    'long edits that all went well',
    (run, at) =>
      run.tool({ name: 'write_file', args: { content: `${long} ${'abcdefgh'[at]}` } }, 'ok'),
  ],
  [
    'an edit between the tests',
    (run, at) =>
      run
        .tool({ name: 'run_tests', args: { of: orders[at % 5] } }, '1 failed')
        .tool({ name: 'edit', args: { line: at } }, 'edited'),
  ],
])('no loop: %s', (name, write) => {
  expect(foundBy(similarCall, asked(name).times(8, write).assistant('Done.'))).toEqual([])
})

test('other calls in between do not hide it, twenty steps do', () => {
  const spread = (name: string, between: number) =>
    asked(name).times(5, (agent, at) =>
      search(agent, orders[at]).times(between, (more, nth) =>
        more.tool({ name: 'open', args: { at, nth } }, `page ${at} ${nth}`),
      ),
    )
  expect(foundBy(similarCall, spread('near', 2).assistant('No.'))).toHaveLength(1)
  expect(foundBy(similarCall, spread('far', 6).assistant('No.'))).toEqual([])
})
