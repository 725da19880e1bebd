import { expect, test } from 'vitest'
import { agentRun } from '../../../../../test/corpus/agent-run.ts'
import { findingsOf } from '../../../../../test/support/failure-findings.ts'
import { budgetExceeded } from './budget-exceeded.ts'

const run = () =>
  agentRun('long')
    .user('x')
    .times(5, (agent) => agent.assistant({ text: 'y', input_tokens: 900, output_tokens: 100 }))

test('names the call that exceeded the limit, and keeps it', () => {
  const settings = { tokens_max: 2_500 }
  const [finding, ...others] = findingsOf(budgetExceeded, run(), { settings })
  expect(others).toEqual([])
  expect(finding).toMatchObject({ type: 'budget_exceeded', severity: 'info', start_step: 2 })
  const more = findingsOf(budgetExceeded, run().assistant('more'), { settings })
  expect(more[0]?.anchor).toBe(finding?.anchor)
})

test('measures time from the first call', () => {
  const settings = { duration_minutes_max: 1 }
  const slow = run().wait(120_000).assistant('late')
  expect(findingsOf(budgetExceeded, run(), { settings })).toEqual([])
  expect(findingsOf(budgetExceeded, slow, { settings })).toMatchObject([
    { start_step: 5, evidence: { of: 'duration' } },
  ])
})

test('money is counted in dollars', () => {
  const dear = agentRun('dear', { model: 'gpt-4o' })
    .user('x')
    .times(3, (agent) => agent.assistant({ text: 'y', input_tokens: 4_000, output_tokens: 0 }))
  const settings = { cost_usd_max: 0.015 }
  expect(findingsOf(budgetExceeded, dear, { settings })).toMatchObject([
    { start_step: 1, evidence: { of: 'cost', max: '$0.015' } },
  ])
})

test('a task within its limits has no finding', () => {
  expect(findingsOf(budgetExceeded, run())).toEqual([])
})
