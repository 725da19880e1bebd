import { expect, test } from 'vitest'
import { type AgentRun, agentRun } from '../../../../../test/corpus/agent-run.ts'
import { foundBy } from '../../../../../test/support/detect-one.ts'
import { errorStreak } from './error-streak.ts'

function asked(name: string) {
  return agentRun(name).user('Which ports are open?').tool({ name: 'whoami' }, 'root')
}

const query = (run: AgentRun, at: number, text = `ERROR: column "c${at}" does not exist`) =>
  run.tool({ name: 'query', args: { sql: `SELECT c${at} FROM t` } }, text)

test('five errors in a row are a loop, for any calls', () => {
  const run = asked('five').times(5, (agent, at) => query(agent, at))
  expect(foundBy(errorStreak, run.assistant('No.'))).toMatchObject([
    { type: 'error_streak', severity: 'medium', start_step: 1, end_step: 5, repeats: 5 },
  ])
})

test('ten are high; a later success lowers the severity', () => {
  const ten = (name: string) => asked(name).times(10, (agent, at) => query(agent, at))
  expect(foundBy(errorStreak, ten('ten').assistant('No.'))).toMatchObject([{ severity: 'high' }])
  expect(foundBy(errorStreak, query(ten('ok'), 11, '4').assistant('4.'))).toMatchObject([
    { severity: 'low', recovered: true },
  ])
})

test('three equal errors are enough, except for shells', () => {
  const tool = (run: AgentRun, at: number) =>
    run.tool({ name: 'click', args: { on: `#b${at}` } }, '{"ok":false,"error":"not found"}')
  expect(foundBy(errorStreak, asked('same').times(3, tool).assistant('No.'))).toMatchObject([
    { repeats: 3, start_step: 1, end_step: 3 },
  ])
  const shell = (run: AgentRun, at: number) =>
    run.tool({ name: 'bash', args: { command: `cat ${at}` } }, 'Permission denied\n[exit code: 1]')
  expect(foundBy(errorStreak, asked('shell').times(4, shell).assistant('No.'))).toEqual([])
})

test('parallel calls count separately, but one step is not a streak', () => {
  const reads = (run: AgentRun, at: number) =>
    run
      .assistant({ calls: [0, 1, 2, 3, 4].map((n) => ({ name: 'read', args: { n, at } })) })
      .results([0, 1, 2, 3, 4].map((n) => `ENOENT: no such file or directory, open '${at}${n}'`))
  expect(foundBy(errorStreak, asked('one').times(1, reads).assistant('No.'))).toEqual([])
  expect(foundBy(errorStreak, asked('two').times(2, reads).assistant('No.'))).toMatchObject([
    { repeats: 10, start_step: 1, end_step: 2 },
  ])
})

test.each<[string, (run: AgentRun) => AgentRun]>([
  ['four differ', (run) => run.times(4, (agent, at) => query(agent, at))],
  [
    'one works in between',
    (run) => run.times(8, (agent, at) => query(agent, at, at === 4 ? '1' : undefined)),
  ],
  [
    'outages do not count',
    (run) => run.times(9, (agent, at) => query(agent, at, 'Error: connection refused')),
  ],
  [
    'the user corrects',
    (run) => run.times(6, (agent, at) => query(agent, at).assistant('?').user('Try')),
  ],
])('no streak: %s', (name, write) => {
  expect(foundBy(errorStreak, write(asked(name)).assistant('Done.'))).toEqual([])
})
