import { describe, expect, test } from 'vitest'
import { ruleBody } from '../index.ts'
import { splitTiers } from './burn-tiers.ts'

/** The faults of a rule as `path: message`; empty for a valid one. */
function faults(rule: object): string[] {
  const parsed = ruleBody.safeParse({ name: 'failures', severity: 'high', ...rule })
  if (parsed.success) return []
  return parsed.error.issues.map(({ path, message }) => `/${path.join('/')}: ${message}`)
}

const condition = { signal: 'failure_count', window: '5m', threshold: 3 }
const event = { match: { source: 'finding' } }
const tier = { factor: 6, long: '6h', short: '30m' }
const burn = { signal: 'failure_rate', objective: 0.95 }

test.each([
  { condition },
  { condition: { signal: 'cost', window: '1h', threshold: '20', per: 'hour' } },
  { condition: { signal: 'error_rate', window: '5m', op: 'gte', threshold: 1 } },
  { condition: { signal: 'trust_score', window: '5m', op: 'lte', threshold: 0 } },
  { condition: { signal: 'absent', window: '10m' } },
  { condition: { signal: 'ingest_lag' } },
  { burn_rate: { ...burn, preset: 'standard' } },
  { burn_rate: { ...burn, tiers: [tier] } },
  { baseline: { signal: 'tokens', per: 'task', max_ratio: 2, floor: 1000 } },
  { event },
  { event: { ...event, count: 3, within: '10m' }, keep_firing_for: '1h' },
  { event: { match: { source: 'ledger', types: ['lost'] } } },
])('accepts %j', (rule) => {
  expect(faults(rule)).toEqual([])
})

describe('one kind', () => {
  test('exactly one of the four', () => {
    const expected = 'expected exactly one of condition, burn_rate, baseline, event'
    expect(faults({})).toEqual([`/: got none of them, ${expected}`])
    expect(faults({ condition, event })).toEqual([`/: got condition and event, ${expected}`])
  })

  test.each([
    [{ condition: { ...condition, objective: 0.9 } }, 'Unrecognized key'],
    [{ condition: { signal: 'absent', window: '5m', threshold: 3 } }, 'Unrecognized key'],
    [{ condition: { ...condition, per: 'task' } }, '/condition/per: applies to `cost`'],
    [{ event, for: '5m' }, '/for: got 5m, but a match has no duration'],
    [{ event, no_data: 'ok' }, '/no_data: event rules'],
    [{ event: { ...event, count: 3 } }, '/event/within: expected a duration in which 3'],
    [{ event: { ...event, within: '5m' } }, '/event/within: has no effect'],
    [
      { event: { match: { source: 'verification', kinds: ['loop'] } } },
      '/event/match/kinds: only findings have it',
    ],
    [{ condition: { signal: 'absent', window: '5m' }, no_data: 'ok' }, '/no_data: does not apply'],
    [
      { condition: { signal: 'ingest_lost', window: '5m', threshold: 0 }, group_by: ['model'] },
      '/group_by: the ledger counts a whole project',
    ],
    [
      { event: { match: { source: 'ledger' } }, selector: { model: ['gpt-*'] } },
      '/selector: the ledger counts a whole project',
    ],
    [{ baseline: { signal: 'trust_score', max_ratio: 2, floor: 0 } }, '/baseline/signal'],
  ])('refuses %j', (rule, message) => {
    expect(faults(rule)).toEqual([expect.stringContaining(message)])
  })
})

describe('rules that can never fire are refused with the arithmetic', () => {
  test.each([
    ['error_rate', 'gt', 1, '`error_rate > 1` is never true: `error_rate` is from 0 to 1'],
    ['error_rate', 'gte', 1.5, '`error_rate ≥ 1.5` is never true: `error_rate` is from 0 to 1'],
    ['trust_score', 'lt', 0, '`trust_score < 0` is never true: `trust_score` is from 0 to 1'],
    ['tokens', 'lte', -1, '`tokens ≤ -1` is never true: `tokens` is at least 0'],
    ['latency_p95', 'lt', '0', '`latency_p95 < 0` is never true: `latency_p95` is at least 0'],
    ['error_rate', 'lt', 5, '`error_rate < 5` is always true: `error_rate` is from 0 to 1'],
  ])('%s %s %s', (signal, op, threshold, message) => {
    expect(faults({ condition: { signal, op, threshold, window: '5m' } })).toEqual([
      `/condition/threshold: ${message}`,
    ])
  })

  test('a baseline whose floor is the maximum', () => {
    expect(faults({ baseline: { signal: 'error_rate', max_ratio: 2, floor: 1 } })).toEqual([
      '/baseline/floor: `error_rate > 1` is never true: `error_rate` is from 0 to 1',
    ])
  })

  test('burn rate: factor · (1 − objective) ≥ 1', () => {
    const tiers = [{ ...tier, factor: 14.4 }, tier]
    expect(faults({ burn_rate: { ...burn, objective: 0.9, tiers } })).toEqual([
      '/burn_rate/tiers/0/factor: never fires: 14.4 × (1 − 0.9) = 1.44, and a share of bad items above 1.44 does not exist',
    ])
    // 10 × (1 − 0.9) is 0.9999999999999998 in binary fractions, and 1 in truth.
    const ten = [{ ...tier, factor: 10 }]
    expect(faults({ burn_rate: { ...burn, objective: 0.9, tiers: ten } })).toHaveLength(1)
  })

  test('a rule without any tier left is refused', () => {
    const tiers = [
      { ...tier, factor: 14.4 },
      { ...tier, factor: 11 },
    ]
    expect(faults({ burn_rate: { ...burn, objective: 0.9, tiers } })).toHaveLength(2)
  })

  test('`for` of an absent group that is forgotten earlier', () => {
    const absent = { signal: 'absent', window: '5m' }
    expect(faults({ condition: absent, for: '1d' })).toEqual([
      '/for: never fires: `for` 1d + `interval` 1m = 24.02 h, and a group without rows is forgotten after 24 h',
    ])
    expect(faults({ condition: absent, for: '23h' })).toEqual([])
  })
})

describe('burn rates', () => {
  test.each([
    [{}, '/burn_rate: expected either `preset` or `tiers`'],
    [{ preset: 'standard', tiers: [tier] }, '/burn_rate: expected either `preset` or `tiers`'],
    [{ tiers: [{ ...tier, short: '6h' }] }, '/burn_rate/tiers/0/short: got 6h, expected less'],
    [{ tiers: [tier, tier] }, '/burn_rate/tiers/1/factor: got 6 twice'],
  ])('refuses %j', (more, message) => {
    expect(faults({ burn_rate: { ...burn, ...more } })).toEqual([expect.stringContaining(message)])
  })

  test('a preset leaves out the tiers that can never fire, and lists them', () => {
    const rule = { burn_rate: { ...burn, objective: 0.8, preset: 'standard' } }
    expect(faults(rule)).toEqual([])
    const { tiers, left_out } = splitTiers(
      ruleBody.parse({ name: 'a', severity: 'high', ...rule }).burn_rate ?? never(),
      'high',
    )
    expect(tiers.map(({ factor }) => factor)).toEqual([3, 1])
    expect(left_out.map(({ reason }) => reason)).toEqual([
      '14.4 × (1 − 0.8) = 2.88, and a share of bad items above 2.88 does not exist',
      '6 × (1 − 0.8) = 1.2, and a share of bad items above 1.2 does not exist',
    ])
  })
})

test.each([
  [{ interval: '10m' }, '/interval: got 10m, longer than the window 5m'],
  [{ group_by: ['model', 'model'] }, '/group_by: got `model` twice'],
  [{ group_by: ['user_id'] }, '/group_by/0: Invalid option'],
  [{ group_by: ['model', 'release', 'tag', 'provider'] }, '/group_by: Too big'],
  [{ dedup_key: '{{group.model}}' }, '/dedup_key: {{group.model}} is always empty'],
  [{ for: '2 minutes' }, '/for: '],
  [{ for: '25h' }, '/for: '],
  [{ labels: { __name: 'x' } }, '/labels/__name'],
  [{ labels: { Team: 'x' } }, '/labels/Team'],
  [{ runbook_url: 'javascript:alert(1)' }, '/runbook_url: '],
  [
    { labels: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`l${i}`, 'x'])) },
    '/labels: got 51',
  ],
  [
    { escalation: ['10m', '10m'].map((after) => ({ after, notify: ['a'] })) },
    '/escalation/1/after: got 10m, expected more than 10m',
  ],
  [
    { inhibited_by: [{ rule: 'other', equal: ['model'] }] },
    '/inhibited_by/0/equal: never inhibits',
  ],
  [{ inhibited_by: [{ rule: 'other', equal: [] }] }, '/inhibited_by/0/equal: Too small'],
  [
    { inhibited_by: [{ rule: 'failures', equal: ['model'] }], group_by: ['model'] },
    '/inhibited_by/0/rule: a rule cannot inhibit itself',
  ],
  [
    { inhibited_by: [{ labels: {}, equal: ['model'] }], group_by: ['model'] },
    '/inhibited_by/0: expected either `rule`',
  ],
])('refuses %j', (more, message) => {
  expect(faults({ condition, ...more })).toEqual([expect.stringContaining(message)])
})

function never(): never {
  throw new Error('a burn rate was expected')
}
