import { expect, test } from 'vitest'
import { type AgentRun, agentRun } from '../../../../../test/corpus/agent-run.ts'
import { foundBy } from '../../../../../test/support/detect-one.ts'
import { monologue } from './monologue.ts'

const text = 'I will now create the file hello.txt.'
const asked = (name: string) => agentRun(name).user('Create hello.txt.')

test('three equal texts are a loop, ignoring case and final punctuation', () => {
  const run = asked('three').assistant(text).assistant(text.toUpperCase()).assistant(`${text}..`)
  expect(foundBy(monologue, run)).toMatchObject([
    {
      type: 'monologue',
      severity: 'medium',
      start_step: 0,
      end_step: 2,
      repeats: 3,
      confidence: 0.5,
    },
  ])
})

const long =
  'The backup of the customer table is written to the archive and next I am going to switch the ' +
  'writers over to the new table, check that both counts agree, and remove the old one in days:'

test('nearly equal texts take four', () => {
  const said = (count: number) =>
    asked(`near ${count}`).times(count, (run, at) => run.assistant(`${long} ${'abcdef'[at]}`))
  expect(foundBy(monologue, said(3))).toEqual([])
  expect(foundBy(monologue, said(4))).toMatchObject([{ repeats: 4, evidence: { equal: false } }])
  expect(foundBy(monologue, said(5))).toMatchObject([{ severity: 'high' }])
})

test.each<[string, (run: AgentRun) => AgentRun]>([
  ['twice', (run) => run.times(2, (agent) => agent.assistant(text))],
  [
    'the user speaks in between',
    (run) => run.times(5, (agent) => agent.assistant('Yes.').user('And?')),
  ],
  [
    'a tool works in between',
    (run) => run.times(5, (agent) => agent.assistant(text).tool({ name: 'touch' }, 'ok')),
  ],
  ['nothing is said', (run) => run.times(5, (agent) => agent.assistant(''))],
  [
    'the text continues',
    (run) => run.times(5, (agent, at) => agent.assistant(`Chapter ${'abcde'[at]}`)),
  ],
  [
    'agents side by side say the same',
    (run) => {
      const sub = (agent: AgentRun) => agent.user('Is it so?').assistant('Yes.')
      return run.parallel(sub, sub, sub, sub)
    },
  ],
  [
    'answers are thrown away and asked for again',
    (run) => run.times(4, (agent) => agent.assistant({ text, kept: false })),
  ],
])('no monologue: %s', (name, write) => {
  expect(foundBy(monologue, write(asked(name)).assistant('Done, thank you.'))).toEqual([])
})
