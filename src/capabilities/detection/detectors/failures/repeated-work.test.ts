import { expect, test } from 'vitest'
import { type AgentRun, agentRun } from '../../../../../test/corpus/agent-run.ts'
import { findingsOf } from '../../../../../test/support/failure-findings.ts'
import { repeatedWork } from './repeated-work.ts'

const tools = ['read_file', 'edit_file', 'delegate']

function read(run: AgentRun, names: readonly string[]): AgentRun {
  return names.reduce(
    (all, path) =>
      all.tool({ name: 'read_file', args: { path } }, `the text of ${path}, forty lines`),
    run,
  )
}

function delegated(order: string, names: readonly string[], before = (run: AgentRun) => run) {
  return before(read(agentRun(order, { tools }).user('Explain it.'), ['a', 'b', 'c', 'd']))
    .assistant({ calls: [{ name: 'delegate', args: { order } }] })
    .parallel((sub) => read(sub.system('You write.').user(order), names).assistant('Written.'))
    .results(['Written.'])
    .assistant('It is explained.')
}

test('reports a sub-agent that reads what its parent had read', () => {
  const found = findingsOf(repeatedWork, delegated('Write a page.', ['a', 'b', 'c', 'd']))
  expect(found).toMatchObject([{ severity: 'low', repeats: 4, start_step: 5, end_step: 8 }])
  expect(found[0]?.wasted_tokens).toBeGreaterThan(0)
})

test.each([
  ['reads other files', 'Write a page.', ['a', 'b', 'e', 'f', 'g']],
  ['has to check', 'Verify the explanation.', ['a', 'b', 'c', 'd']],
  ['has to check, in German', 'Prüfe die Erklärung.', ['a', 'b', 'c', 'd']],
  ['must read first', 'Read each of the files first, then write a page.', ['a', 'b', 'c', 'd']],
  ['reads two files again', 'Write a page.', ['a', 'b']],
])('a sub-agent that %s is healthy', (_name, order, names) => {
  expect(findingsOf(repeatedWork, delegated(order, names))).toEqual([])
})

test('reading again after a change is not a repetition', () => {
  const change = (run: AgentRun) => run.tool({ name: 'edit_file', args: { path: 'a' } }, 'edited a')
  const run = delegated('Write a page.', ['a', 'b', 'c', 'd'], change)
  expect(findingsOf(repeatedWork, run)).toEqual([])
})

test('reading what the sub-agent changes afterwards is no repetition', () => {
  const names = ['a', 'b', 'c', 'd']
  const run = read(agentRun('edits', { tools }).user('Explain it.'), names)
    .assistant({ calls: [{ name: 'delegate', args: { order: 'Tidy up.' } }] })
    .parallel((sub) =>
      names
        .reduce(
          (all, path) => all.tool({ name: 'edit_file', args: { path } }, `edited ${path}`),
          read(sub.system('You edit.').user('Tidy up.'), names),
        )
        .assistant('Tidied.'),
    )
    .results(['Tidied.'])
    .assistant('It is tidy.')
  expect(findingsOf(repeatedWork, run)).toEqual([])
})
