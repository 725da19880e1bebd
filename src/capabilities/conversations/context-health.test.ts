import { expect, test } from 'vitest'
import type { Finding } from '../detection/index.ts'
import { contextScore } from './context-health.ts'

const finding = (about: Partial<Finding>): Finding =>
  ({
    finding_id: '0198c0de-0000-7000-8000-00000000000f',
    task_id: 't',
    type: 'lost_context',
    severity: 'medium',
    confidence: 1,
    evidence: {},
    ...about,
  }) as Finding

test('a conversation without findings scores 1', () => {
  expect(contextScore([], 2)).toEqual({
    score: 1,
    parts: [],
    window_fill: null,
    window_penalty: 0,
  })
})

test('a conversation of fewer than two turns has no score', () => {
  expect(contextScore([], 1).score).toBeNull()
  expect(contextScore([], 0).score).toBeNull()
})

test('each finding multiplies by 1 − weight · severity · confidence', () => {
  const { score, parts } = contextScore(
    [finding({}), finding({ type: 'contradicted_fact', severity: 'high', confidence: 0.8 })],
    4,
  )
  expect(parts.map(({ factor }) => factor)).toEqual([0.7, 0.58])
  expect(score).toBeCloseTo(0.7 * 0.58, 4)
})

test('findings of severity info do not lower the score', () => {
  expect(contextScore([finding({ severity: 'info' })], 2)).toMatchObject({ score: 1, parts: [] })
})

test.each([
  [0.8, 0],
  [0.9, 0.1],
  [1.7, 0.2],
])('a window filled to %d lowers the score by %d', (fill, penalty) => {
  const full = finding({ type: 'context_overflow', severity: 'info', evidence: { fill } })
  const { score, window_fill, window_penalty } = contextScore([full], 2)
  expect(window_fill).toBe(fill)
  expect(window_penalty).toBeCloseTo(penalty, 4)
  expect(score).toBeCloseTo(1 - penalty, 4)
})

test('the score never goes below 0', () => {
  const worst = finding({ type: 'contradicted_fact', severity: 'critical' })
  const full = finding({ type: 'context_overflow', evidence: { fill: 1 } })
  expect(contextScore([...Array(20).fill(worst), full], 9).score).toBe(0)
})
