import { describe, expect, test } from 'vitest'
import { agentRun } from '../../../../../test/corpus/agent-run.ts'
import { findingsOf, serious } from '../../../../../test/support/failure-findings.ts'
import { createWorkBudget } from '../../analyse/run-detectors.ts'
import { reconstruct } from '../../reconstruction/index.ts'
import { orphan } from './orphan.ts'

test('a call without a result although the agent continued', () => {
  const run = agentRun('lost', { tools: ['count'] })
    .user('How many?')
    .assistant({ calls: [{ name: 'count', args: { state: 'open' } }] })
    .assistant('Some.')
    .user('How many exactly?')
    .assistant('I do not know.')
  expect(findingsOf(orphan, run)).toMatchObject([
    { type: 'orphan_call', severity: 'medium', start_step: 0 },
  ])
})

test('one of three results never came', () => {
  const price = (shop: string) => ({ name: 'price', args: { shop } })
  const run = agentRun('two of three', { tools: ['price'] })
    .user('Where?')
    .assistant({ calls: [price('a'), price('b'), price('c')] })
    .results(['1', '2'])
    .assistant('At a.')
    .user('Thanks')
    .assistant('You are welcome.')
  const [finding, ...others] = findingsOf(orphan, run)
  expect(others).toEqual([])
  expect(finding?.evidence['arguments']).toContain('"c"')
})

test('a result that no call had asked for', () => {
  const run = agentRun('unasked', { tools: ['switch'] })
    .user('Turn on the light.')
    .assistant({ calls: [{ name: 'switch', args: { on: true }, id: 'call_1' }] })
    .results([
      { text: 'on', id: 'call_1' },
      { text: 'off', id: 'call_2' },
    ])
    .assistant('The light is on.')
  expect(findingsOf(orphan, run)).toMatchObject([{ type: 'orphan_result', severity: 'medium' }])
})

describe('healthy twins', () => {
  test('a result in a call without a history: earlier calls are unknown', () => {
    const rows = agentRun('midway', { tools: ['switch'] })
      .user('Turn on the light.')
      .assistant({ calls: [{ name: 'switch', args: { on: true }, id: 'call_1' }] })
      .results([
        { text: 'on', id: 'call_1' },
        { text: 'off', id: 'call_2' },
      ])
      .assistant('The light is on.')
      .observations()
    const midway = rows.slice(1).map((row) => ({ ...row, input: '' }))
    const run = reconstruct(midway)
    expect(run.tools.filter((use) => use.orphan === 'result').length).toBeGreaterThan(0)
    const budget = createWorkBudget({ units_max: 1_000 })
    expect(orphan.detect(run, orphan.settings.parse({}), budget)).toEqual([])
  })

  test('every call is answered, in any order', () => {
    const run = agentRun('order')
      .user('Both?')
      .assistant({
        calls: [
          { name: 'a', id: 'call_1' },
          { name: 'b', id: 'call_2' },
        ],
      })
      .results([
        { text: '2', id: 'call_2' },
        { text: '1', id: 'call_1' },
      ])
      .assistant('Both.')
    expect(findingsOf(orphan, run)).toEqual([])
  })

  test('tools that are still running', () => {
    const run = agentRun('waiting')
      .user('x')
      .assistant({ calls: [{ name: 'a' }] })
    expect(findingsOf(orphan, run)).toEqual([])
  })

  test('the user interrupts', () => {
    const run = agentRun('stop')
      .user('Look.')
      .assistant({ calls: [{ name: 'look' }] })
      .user('Stop, something else: hi')
      .assistant('Hi')
      .user('Bye')
      .assistant('Bye')
    expect(serious(findingsOf(orphan, run))).toEqual([])
  })

  test('a call that delivers the result needs no answer', () => {
    const run = agentRun('final')
      .user('Extract.')
      .assistant({ calls: [{ name: 'final_result', args: { a: 1 } }] })
      .user('Next.')
      .assistant({ calls: [{ name: 'final_result', args: { a: 2 } }] })
    expect(findingsOf(orphan, run)).toEqual([])
  })
})
