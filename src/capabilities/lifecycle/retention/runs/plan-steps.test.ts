import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { RetentionDays } from '../../../../platform/relational/index.ts'
import {
  day_ms,
  daysIn,
  defaultRetention,
  firstKeptDay,
  type RetentionRules,
} from '../retention-policy/rules.ts'
import { type Census, censusesFor, isDue, planSteps } from './plan-steps.ts'

const now_ms = Date.UTC(2026, 10, 21, 12)
const today = Math.floor(now_ms / day_ms)
const forever: RetentionDays = { content: null, observations: null, traces: null, events: null }
const rulesOf = (
  days: Partial<RetentionDays>,
  environments: Record<string, Partial<RetentionDays>> = {},
): RetentionRules => ({
  days: { ...forever, ...days },
  environments: Object.entries(environments).map(([environment, own]) => ({
    environment,
    days: own,
  })),
  archive_before_delete: false,
})

describe('days', () => {
  test('a day is due once all of it is older than the days of the rule', () => {
    expect(firstKeptDay(now_ms, 30)).toBe(today - 30)
    expect(firstKeptDay(day_ms * today, 1)).toBe(today - 1)
    expect(firstKeptDay(day_ms * today - 1, 1)).toBe(today - 2)
    expect(firstKeptDay(now_ms, null)).toBe(Number.NEGATIVE_INFINITY)
  })

  test('fields that an environment leaves out default to the policy, within their bounds', () => {
    const rules = rulesOf(
      { content: 30, observations: 90, traces: 365, events: 60 },
      {
        dev: { observations: 7 },
        brief: { traces: 3 },
        prod: { observations: null, traces: null },
      },
    )
    expect(daysIn(rules, 'other')).toEqual(rules.days)
    expect(daysIn(rules, 'dev')).toEqual({ content: 7, observations: 7, traces: 365, events: 7 })
    expect(daysIn(rules, 'brief')).toEqual({ content: 3, observations: 3, traces: 3, events: 3 })
    expect(daysIn(rules, 'prod')).toEqual({
      ...{ content: 30, observations: null, traces: null, events: 60 },
    })
  })
})

test('there is no census for rows that are kept for ever', () => {
  expect(censusesFor(defaultRetention, now_ms)).toEqual([])
})

test('censuses cover only days that may be due, and environments whose days differ', () => {
  const rules = rulesOf(
    { observations: 30, events: 30 },
    { dev: { observations: 7 }, prod: { events: null, observations: null }, same: {} },
  )
  const [first, ...rest] = censusesFor(rules, now_ms)
  expect(first).toEqual({
    kind: 'correlations',
    action: 'delete',
    before_day: today - 7,
    environments: ['prod', 'dev'],
  })
  expect(rest.map(({ kind, environments }) => [kind, environments])).toEqual([
    ['links', ['prod', 'dev']],
    ['events', ['prod', 'dev']],
    ['observations', []],
  ])
})

test('steps run from the oldest day on, dependents of observations before observations', () => {
  const rules = rulesOf({ content: 10, observations: 30, traces: 30, events: 30 })
  const census: Census[] = censusesFor(rules, now_ms).map((scope) => ({
    scope,
    buckets: [31, 40, 20, 11].map((ago) => bucketOf(today - ago)),
  }))
  const steps = planSteps(rules, now_ms, census)
  expect(steps.map(({ day, kind, action }) => [today - day, action, kind])).toEqual([
    ...[40, 31].flatMap((ago) =>
      ['correlations', 'links', 'events', 'observations', 'traces'].map((kind) => [
        ago,
        'delete',
        kind,
      ]),
    ),
    ...[20, 11].flatMap((ago) =>
      ['correlations', 'links', 'events', 'observations', 'traces'].map((kind) => [
        ago,
        'mask',
        kind,
      ]),
    ),
  ])
})

function bucketOf(day: number, environment = '') {
  return { day, environment, rows: 1, bytes: 10 }
}

const days = fc.option(fc.integer({ min: 1, max: 60 }))
const anyRules = fc
  .record({
    days: fc.record({ content: days, observations: days, traces: days, events: days }),
    environments: fc.uniqueArray(
      fc.record({
        environment: fc.constantFrom('a', 'b', 'c'),
        days: fc.record(
          { content: days, observations: days, traces: days, events: days },
          { requiredKeys: [] },
        ),
      }),
      { selector: ({ environment }) => environment },
    ),
  })
  .map((rules): RetentionRules => ({ ...rules, archive_before_delete: false }))

test('a plan has each due bucket once, and no other', () => {
  const anyBuckets = fc.uniqueArray(
    fc.record({
      ago: fc.integer({ min: -3, max: 70 }),
      environment: fc.constantFrom('', 'a', 'b', 'c'),
    }),
    { selector: ({ ago, environment }) => `${ago} ${environment}` },
  )
  fc.assert(
    fc.property(anyRules, anyBuckets, (rules, some) => {
      const buckets = some.map(({ ago, environment }) => bucketOf(today - ago, environment))
      const wishes = censusesFor(rules, now_ms)
      const seen = (scope: (typeof wishes)[number]) =>
        buckets.filter(({ day }) => day < scope.before_day)
      const steps = planSteps(
        rules,
        now_ms,
        wishes.map((scope) => ({ scope, buckets: seen(scope) })),
      )
      const planned = steps.flatMap(({ day, kind, action, buckets: of }) =>
        of.map(({ environment }) => `${action} ${kind} ${day} ${environment}`),
      )
      // The rule again, in milliseconds: the last one of the day is too old.
      const field = { observations: 'observations', traces: 'traces', events: 'events' } as const
      const expected = (['observations', 'traces', 'events'] as const).flatMap((kind) =>
        buckets.flatMap(({ day, environment }) => {
          const own = daysIn(rules, environment)
          const isOver = (n: number | null) =>
            n !== null && (day + 1) * day_ms <= now_ms - (now_ms % day_ms) - n * day_ms
          const of = `${kind} ${day} ${environment}`
          if (isOver(own[field[kind]])) return [`delete ${of}`]
          return isOver(own.content) ? [`mask ${of}`] : []
        }),
      )
      const told = planned.filter((one) => !/ (links|correlations) /.test(one))
      expect(told.toSorted()).toEqual(expected.toSorted())
      expect(new Set(planned).size).toBe(planned.length)
      for (const one of steps) expect(one.day).toBeLessThan(today)
    }),
  )
})

test('rows that a rule keeps for ever are never due', () => {
  fc.assert(
    fc.property(fc.integer({ min: -800_000, max: 800_000 }), (day) => {
      const about = { kind: 'observations', action: 'delete', day, environment: '' } as const
      expect(isDue(rulesOf({ traces: 1, events: 1, content: 1 }), now_ms, about)).toBe(false)
    }),
  )
})
