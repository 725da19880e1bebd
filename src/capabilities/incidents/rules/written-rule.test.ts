import { expect, test } from 'vitest'
import { canonicalRule } from './written-rule.ts'

test('decimal texts are numbers, and `taskName` is `task_name`', () => {
  expect(
    canonicalRule({
      condition: { signal: 'cost', threshold: '0.5' },
      burn_rate: { objective: '0.95', tiers: [{ factor: '14.4', long: '1h' }] },
      baseline: { max_ratio: '2', floor: '10' },
      event: { match: { source: 'finding', min_confidence: '0.8' } },
      selector: { taskName: ['a'], model: ['m'] },
      group_by: ['taskName', 'model'],
      inhibited_by: [{ rule: 'other', equal: ['taskName'] }],
      labels: { taskName: '7' },
    }),
  ).toEqual({
    condition: { signal: 'cost', threshold: 0.5 },
    burn_rate: { objective: 0.95, tiers: [{ factor: 14.4, long: '1h' }] },
    baseline: { max_ratio: 2, floor: 10 },
    event: { match: { source: 'finding', min_confidence: 0.8 } },
    selector: { task_name: ['a'], model: ['m'] },
    group_by: ['task_name', 'model'],
    inhibited_by: [{ rule: 'other', equal: ['task_name'] }],
    labels: { taskName: '7' },
  })
})

test('other texts, and selectors with both names, are left for the schema to refuse', () => {
  const odd = {
    condition: { threshold: '1e3' },
    burn_rate: { objective: '', tiers: [7] },
    event: null,
    selector: { taskName: ['a'], task_name: ['b'] },
    group_by: 'taskName',
    inhibited_by: ['x'],
  }
  expect(canonicalRule(odd)).toEqual(odd)
  for (const value of [null, 'text', [1]]) expect(canonicalRule(value)).toBe(value)
})
