import { expect, test } from 'vitest'
import { type AgentRun, agentRun } from '../../../../../test/corpus/agent-run.ts'
import { foundBy } from '../../../../../test/support/detect-one.ts'
import { scatteredRepeat } from './scattered-repeat.ts'

const readme = (run: AgentRun) => run.tool({ name: 'read_file', args: { path: 'README' } }, 'Hello')
const other = (run: AgentRun, at: number) => run.tool({ name: 'read_file', args: { at } }, `${at}`)

function asked(name: string) {
  return agentRun(name).user('Explain the sources.').tool({ name: 'list_dir' }, 'README src')
}

test('finds three equal reads with others in between, as low', () => {
  const run = asked('three').times(3, (agent, at) => readme(other(agent, at)))
  expect(foundBy(scatteredRepeat, run.assistant('Done.'))).toMatchObject([
    {
      type: 'scattered_repeat',
      severity: 'low',
      start_step: 2,
      end_step: 6,
      repeats: 3,
      period: null,
    },
  ])
})

test('user messages do not end it', () => {
  const run = asked('users').times(3, (agent) => readme(agent).assistant('Hello.').user('And now?'))
  expect(foundBy(scatteredRepeat, run)).toHaveLength(1)
})

test('a shell may read four times', () => {
  const look = (run: AgentRun, at: number) =>
    other(run.tool({ name: 'bash', args: { command: 'ls -la' } }, 'a.py'), at)
  expect(foundBy(scatteredRepeat, asked('4').times(4, look).assistant('Done.'))).toEqual([])
  expect(foundBy(scatteredRepeat, asked('5').times(5, look).assistant('Done.'))).toHaveLength(1)
})

test.each<[string, (run: AgentRun, at: number) => AgentRun]>([
  ['a file is written', (run, at) => run.tool({ name: 'write_file', args: { at } }, 'written')],
  [
    'a shell changes something',
    (run) => run.tool({ name: 'bash', args: { cmd: 'make clean' } }, ''),
  ],
  ['time passes', (run) => run.tool({ name: 'bash', args: { cmd: 'sleep 3' } }, '')],
  [
    'an unknown tool reports a change',
    (run, at) => run.tool({ name: 'konto', args: { at } }, '{"ok":true}'),
  ],
  [
    'a statement changes rows',
    (run, at) => run.tool({ name: 'db', args: { sql: `UPDATE t SET a = ${at}` } }, '1 row'),
  ],
  ['the history is compacted', (run) => run.compact('We looked at the README. Go on.')],
])('reading again is right when %s', (name, change) => {
  const run = asked(name).times(5, (agent, at) => change(readme(agent), at))
  expect(foundBy(scatteredRepeat, run.assistant('Done.'))).toEqual([])
})

test('ignores consecutive reads, waiting, and reads far apart', () => {
  const row = asked('row').times(6, (agent) => readme(agent))
  expect(foundBy(scatteredRepeat, row.assistant('Done.'))).toEqual([])
  const poll = asked('poll').times(6, (agent, at) =>
    other(agent.tool({ name: 'build_status' }, 'running'), at),
  )
  expect(foundBy(scatteredRepeat, poll.assistant('Done.'))).toEqual([])
  const far = asked('far').times(3, (agent, at) =>
    readme(agent).times(20, (more, nth) => other(more, at * 100 + nth)),
  )
  expect(foundBy(scatteredRepeat, far.assistant('Done.'))).toEqual([])
})
