import { expect, test } from 'vitest'
import { agentRun } from '../../../../test/corpus/agent-run.ts'
import { runOf } from '../../../../test/support/detect-one.ts'
import type { FindingDraft } from '../contract.ts'
import { placesOfSteps } from '../facts/finding-parts.ts'
import { applyLoopPrecedence } from './loop-precedence.ts'

const run = runOf(
  agentRun('ten')
    .user('Go.')
    .times(10, (agent, at) => agent.tool({ name: 'a', args: { at } }, 'x')),
)

function found(
  type: string,
  steps: readonly number[],
  kind: 'loop' | 'failure' = 'loop',
): FindingDraft {
  return {
    kind,
    type,
    severity: 'low',
    anchor: `${steps[0]}`,
    summary: type,
    start_step: steps[0] ?? null,
    end_step: steps.at(-1) ?? null,
    period: null,
    repeats: steps.length,
    places: placesOfSteps(run, steps),
    wasted_tokens: 0,
    wasted_nano_dollars: 0n,
    recovered: false,
    confidence: 1,
    evidence: { steps },
  }
}

const kept = (...findings: FindingDraft[]) =>
  applyLoopPrecedence(run, findings).map(({ type, evidence }) => [type, evidence['also']])

test('drops a weaker loop when a stronger one covers half of its steps', () => {
  expect(kept(found('scattered_repeat', [0, 2, 5, 8]), found('cycle', [0, 1, 2, 3]))).toEqual([
    ['cycle', ['scattered_repeat']],
  ])
  expect(kept(found('scattered_repeat', [0, 5, 8]), found('cycle', [0, 1, 2, 3]))).toEqual([
    ['scattered_repeat', undefined],
    ['cycle', undefined],
  ])
})

test('keeps the strongest loop and lists each type once', () => {
  const findings = [
    found('error_streak', [0, 1, 2, 3, 4]),
    found('similar_call', [0, 1, 2]),
    found('similar_call', [3, 4]),
    found('repeat_error', [0, 1, 2, 3, 4]),
  ]
  expect(kept(...findings)).toEqual([['repeat_error', ['error_streak', 'similar_call']]])
})

test('leaves other kinds, chants and budgets alone', () => {
  const findings = [
    found('repeat_error', [0, 1, 2]),
    found('tool_failure', [0, 1], 'failure'),
    found('content_chant', [1]),
    found('budget', [2]),
  ]
  expect(kept(...findings).map(([type]) => type)).toEqual([
    'repeat_error',
    'tool_failure',
    'content_chant',
    'budget',
  ])
})
