import { describe, expect, test } from 'vitest'
import { agentRun } from '../../../../../test/corpus/agent-run.ts'
import { findingsOf, serious } from '../../../../../test/support/failure-findings.ts'
import { toolFailure } from './tool-failure.ts'

const refused = 'Error: image is not signed; deployment refused'
const deploy = { name: 'deploy', args: { image: 'cart:2.1' } }

test('an error at the end', () => {
  const run = agentRun('refused')
    .user('Deploy cart.')
    .tool({ name: 'build', args: {} }, 'built')
    .tool(deploy, refused)
    .assistant('I could not deploy it.')
  expect(findingsOf(toolFailure, run)).toMatchObject([
    { type: 'tool_failure', severity: 'medium', start_step: 1, recovered: false },
  ])
  expect(findingsOf(toolFailure, run, { state: 'failed' })).toMatchObject([{ severity: 'high' }])
})

test('a streak is reported while the agent still tries', () => {
  const run = agentRun('trying')
    .user('Deploy cart.')
    .times(3, (agent, at) =>
      agent.tool({ name: 'deploy', args: { image: `cart:2.${at}` } }, refused),
    )
    .assistant({ calls: [deploy] })
  expect(findingsOf(toolFailure, run)).toMatchObject([{ severity: 'high', repeats: 3 }])
  const over = run.results(['deployed']).assistant('Deployed.')
  expect(findingsOf(toolFailure, over)).toMatchObject([{ severity: 'low', recovered: true }])
})

test('spans without content show it by their status', () => {
  const run = agentRun('quiet', { source: 'otlp_no_content' })
    .user('x')
    .tool({ name: 'create_ticket' }, { text: 'no', failed: true })
    .assistant('y')
  expect(findingsOf(toolFailure, run)).toMatchObject([{ type: 'tool_failure' }])
})

test('a failed call after the error leaves no chance to recover', () => {
  const run = agentRun('cut short')
    .user('Deploy cart.')
    .tool(deploy, refused)
    .assistant({ error: { status: 500 } })
  expect(findingsOf(toolFailure, run, { state: 'failed' })).toEqual([])
})

describe('healthy twins', () => {
  test('one error that the model corrects', () => {
    const run = agentRun('corrected')
      .user('Deploy cart.')
      .tool(deploy, refused)
      .tool({ name: 'sign', args: { image: 'cart:2.1' } }, 'signed')
      .tool(deploy, 'deployed')
      .assistant('Deployed.')
    expect(findingsOf(toolFailure, run)).toEqual([])
  })

  test('a file that is not there, and one that is', () => {
    const run = agentRun('paths')
      .user('Read the config.')
      .tool({ name: 'read_file', args: { path: 'a.yml' } }, 'Error: no such file: a.yml')
      .tool({ name: 'list_files', args: {} }, 'b.yml')
      .tool({ name: 'read_file', args: { path: 'b.yml' } }, 'port: 1')
      .assistant('The port is 1.')
    expect(findingsOf(toolFailure, run)).toEqual([])
  })

  test('looking up something that does not exist', () => {
    const run = agentRun('lookup')
      .user('Where is order 9?')
      .tool({ name: 'get_order', args: { id: 9 } }, 'Error: order not found')
      .assistant('There is no order 9. Which one do you mean?')
    expect(serious(findingsOf(toolFailure, run))).toEqual([])
  })

  test('a shell that fails four times on the way', () => {
    const run = agentRun('shell').user('Fix it.')
    for (const cmd of ['make', 'make all', 'make x', 'make y']) {
      run.tool({ name: 'bash', args: { cmd } }, 'make: *** No rule.\n[exit code: 2]')
    }
    run.tool({ name: 'bash', args: { cmd: 'npm test' } }, '12 passed').assistant('All pass.')
    expect(findingsOf(toolFailure, run)).toEqual([])
  })
})

describe('a refusal that the person knows of', () => {
  const book = { name: 'book_flight', args: { flight: 'FJ402', passengers: 4 } }
  const asked = (name: string) =>
    agentRun(name)
      .user('Move all four of us to the early flight.')
      .tool(book, 'Error: not enough seats on flight FJ402 (requested 4, available 3)')

  test('is info once the person went on, with the reason or without', () => {
    for (const answer of [
      'FJ402 has not enough seats: three are available. Would you like to stay?',
      'Das geht leider nicht. Möchten Sie bleiben?',
    ]) {
      const run = asked(answer).assistant(answer).user('ok, we stay').assistant('Fine.')
      expect(findingsOf(toolFailure, run)).toMatchObject([{ severity: 'info' }])
    }
  })

  test('is low if the answer gives the reason, and medium if it gives none', () => {
    const explained = asked('explained').assistant('Flight FJ402 has only three seats available.')
    expect(findingsOf(toolFailure, explained)).toMatchObject([{ severity: 'low' }])
    const admitted = asked('admitted').assistant('That did not work.')
    expect(findingsOf(toolFailure, admitted)).toMatchObject([{ severity: 'medium' }])
  })

  test('stays medium if the answer claims success', () => {
    const run = asked('hidden')
      .assistant('All four seats on flight FJ402 have been booked.')
      .user('great')
      .assistant('Bye.')
    expect(findingsOf(toolFailure, run)).toMatchObject([{ severity: 'medium' }])
  })

  test('does not ease a streak', () => {
    const run = asked('streak')
      .times(2, (agent) => agent.tool(book, 'Error: not enough seats'))
      .assistant('There are not enough seats.')
      .user('ok')
      .assistant('Bye.')
    expect(serious(findingsOf(toolFailure, run))).toHaveLength(1)
  })
})

test('output that only begins like an error is at most low', () => {
  const grep = (at: number) => ({ name: 'bash', args: { command: `scan logs/app-${at}.log` } })
  const run = (output: string) =>
    agentRun(output)
      .user('Which errors are in the logs?')
      .times(6, (agent, at) => agent.tool(grep(at), output))
      .assistant('A disk is full.')
  expect(findingsOf(toolFailure, run('ERROR: disk full'))).toMatchObject([{ severity: 'low' }])
  expect(serious(findingsOf(toolFailure, run('ERROR: disk full\nexit code: 2')))).toHaveLength(1)
  expect(serious(findingsOf(toolFailure, run('bash: scan: command not found')))).toHaveLength(1)
})
