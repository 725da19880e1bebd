import { expect, test } from 'vitest'
import { type AgentRun, agentRun } from '../../../../../test/corpus/agent-run.ts'
import { foundBy } from '../../../../../test/support/detect-one.ts'
import { cycle } from './cycle.ts'

function asked(name: string) {
  return agentRun(name).user('When is the town hall open?')
}

const iterate = (run: AgentRun, tools: readonly string[], result = 'the same') =>
  tools.reduce((agent, name) => agent.tool({ name }, `${name}: ${result}`), run)

test.each([2, 3, 4, 5, 6])('three iterations of %i steps are a loop', (period) => {
  const tools = ['contact', 'home', 'news', 'map', 'people', 'shop'].slice(0, period)
  const run = asked(`laps of ${period}`)
    .tool({ name: 'search' }, 'town.example')
    .times(3, (agent) => iterate(agent, tools))
    .assistant('I can not tell.')
  expect(foundBy(cycle, run)).toMatchObject([
    { type: 'cycle', period, repeats: 3, start_step: 1, end_step: 3 * period, severity: 'medium' },
  ])
})

test('five iterations are high; all but the first are waste', () => {
  const call = { input_tokens: 100, output_tokens: 10 }
  const run = asked('five').times(5, (agent) =>
    agent
      .assistant({ ...call, calls: [{ name: 'contact' }] })
      .results(['Contact'])
      .assistant({ ...call, calls: [{ name: 'home' }] })
      .results(['Welcome']),
  )
  expect(foundBy(cycle, run.assistant('No.'))).toMatchObject([
    { repeats: 5, severity: 'high', confidence: 0.875, wasted_tokens: 8 * 110 },
  ])
})

test('two iterations are enough if something fails in each', () => {
  const failing = (run: AgentRun) =>
    run
      .tool({ name: 'install', args: { name: 'fastjsn' } }, 'Error: no package fastjsn')
      .tool({ name: 'list_packages' }, 'none')
  expect(foundBy(cycle, asked('fails').times(2, failing).assistant('No.'))).toMatchObject([
    { period: 2, repeats: 2, evidence: { failing: true } },
  ])
  const fine = asked('fine').times(2, (agent) => iterate(agent, ['contact', 'home']))
  expect(foundBy(cycle, fine.assistant('No.'))).toEqual([])
})

test.each<[string, (run: AgentRun) => AgentRun]>([
  ['one call in a row is another loop', (run) => run.times(8, (agent) => iterate(agent, ['home']))],
  [
    'results differ',
    (run) => run.times(4, (agent, at) => iterate(agent, ['next', 'read'], `${at}`)),
  ],
  [
    'test, edit, test, edit',
    (run) =>
      run.times(5, (agent, at) =>
        agent
          .tool({ name: 'edit_file', args: { line: at } }, 'edited')
          .tool({ name: 'run_tests' }, '1 failed'),
      ),
  ],
  [
    'wait and look',
    (run) =>
      run.times(3, (agent) =>
        agent.tool({ name: 'wait', args: { s: 1 } }, 'ok').tool({ name: 'get_build' }, 'not yet'),
      ),
  ],
  [
    'the user asks for each iteration',
    (run) =>
      run.times(4, (agent) => iterate(agent, ['stock', 'price']).assistant('4 €').user('Now?')),
  ],
  [
    'outages',
    (run) =>
      run.times(4, (agent) =>
        iterate(agent, ['a']).tool({ name: 'b' }, 'Error: 503 Service Unavailable'),
      ),
  ],
])('no cycle: %s', (name, write) => {
  const found = foundBy(cycle, write(asked(name)).assistant('Done.'))
  expect(found.filter(({ severity }) => severity !== 'low')).toEqual([])
})
