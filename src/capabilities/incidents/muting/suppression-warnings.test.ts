import { describe, expect, test } from 'vitest'
import { suppressionBody } from './suppression.ts'
import { suppressionWarnings } from './suppression-warnings.ts'

const now_ms = Date.UTC(2026, 10, 23, 12)
const rules = [
  { name: 'slow', labels: { team: 'a' }, group_by: ['model' as const] },
  { name: 'dear', labels: {}, group_by: [] },
]
const warningsOf = (change: object) => {
  const body = { matchers: [{ field: 'rule', value: 'slow' }], comment: 'x', ...change }
  return suppressionWarnings(suppressionBody.parse(body), rules, now_ms)
}
const soon = '2026-11-24T00:00:00Z'
const always = (cron: string, duration: string) => ({ recurrence: { cron, duration } })

describe('a suppression that', () => {
  test.each<[string, object, RegExp]>([
    ['recurs each minute', always('* * * * *', '1m'), /always on.*no end/],
    ['recurs daily for a day', always('0 0 * * *', '1d'), /always on/],
    [
      'recurs until the year 2126',
      { ...always('0 * * * *', '2h'), expires_at: '2126-01-01T00:00:00Z' },
      /always on.*2126/,
    ],
    ['ends in a hundred years', { expires_at: '2126-11-23T12:00:00Z' }, /36,524 days/],
    [
      'has a window of years',
      { windows: [{ from: '2026-01-01T00:00:00Z', to: '2030-01-01T00:00:00Z' }] },
      /windows.0.*1,461 days/,
    ],
    [
      'names an unknown label',
      { expires_at: soon, matchers: [{ field: 'labels.taem', value: 'a' }] },
      /no rule has the label `taem`/,
    ],
    [
      'names an unknown dimension',
      { expires_at: soon, matchers: [{ field: 'group.release', value: 'a' }] },
      /no rule groups by `release`/,
    ],
    [
      'names an unknown rule',
      { expires_at: soon, matchers: [{ field: 'rule', op: 'in', value: ['slow', 'slwo'] }] },
      /no rule has the name "slwo"/,
    ],
  ])('%s warns', (_, change, expected) => {
    const warnings = warningsOf(change)
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toMatch(expected)
  })

  test.each<[string, object]>([
    ['ends soon', { expires_at: soon }],
    ['recurs at night', always('0 2 * * *', '2h')],
    ['recurs on working days', always('0 0 * * 1-5', '1d')],
    [
      'has short windows in far years',
      { windows: [{ from: '2090-01-01T00:00:00Z', to: '2090-01-02T00:00:00Z' }] },
    ],
    [
      'names labels, dimensions and globs',
      {
        expires_at: soon,
        matchers: [
          { field: 'labels.team', value: 'a' },
          { field: 'group.model', value: 'm' },
          { field: 'rule', op: 'glob', value: 'xx*' },
          { field: 'rule', op: 'ne', value: 'gone' },
        ],
      },
    ],
  ])('%s does not', (_, change) => {
    expect(warningsOf(change)).toEqual([])
  })
})
