import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Sample } from '../evaluation/contract.ts'
import { ruleBody } from '../rules/rule-faults.ts'
import { RulePreview } from './rule-preview.ts'

const minute_ms = 60_000
const from_ms = Date.UTC(2026, 10, 1)
const at = (minute: number) => from_ms + minute * minute_ms

const ruleOf = (change: object = {}) =>
  ruleBody.parse({
    name: 'dear',
    condition: { signal: 'cost', window: '10m', threshold: 5 },
    ...{ severity: 'high', notify: ['chat'], ...change },
  })

const sampleOf = (value: number | null): Sample => ({
  ...{ kind: 'condition', value, samples: value === null ? 0 : 1, lag_ms: 0 },
})

/** Evaluates one value a minute, from minute 1; null is a minute without rows. */
function preview(values: readonly (number | null)[], change: object = {}, minutes = values.length) {
  const run = new RulePreview(ruleOf(change), { from_ms, to_ms: at(minutes) })
  values.forEach((value, index) => {
    const groups = value === null ? [] : [{ group: {}, sample: sampleOf(value) }]
    run.addSlot({ end_ms: at(index + 1), groups, empty: sampleOf(null) })
  })
  return run.result()
}

const textOf = ({ transitions }: ReturnType<typeof preview>) =>
  transitions.map(({ type, slot_ms }) => `${type}@${(slot_ms - from_ms) / minute_ms}`)

describe('a preview', () => {
  test('has the transitions, the time of firing and the messages', () => {
    const result = preview([1, 9, 9, 9, 1, 1])
    expect(textOf(result)).toEqual(['fired@2', 'ended@5'])
    expect(result).toMatchObject({
      ...{ firing_ms: 3 * minute_ms, incidents: 1, pages: 1, recipients: ['chat'], overflow: 0 },
      messages: { opened: 1, resolved: 1 },
      groups: [{ group: {}, dedup_key: 'rule:["dear",{}]' }],
    })
    expect(result.series[0]?.points.map(({ value }) => value)).toEqual([1, 9, 9, 9, 1, 1])
  })

  test('counts a group that still fires up to the end of the range', () => {
    expect(preview([9], {}, 31).firing_ms).toBe(30 * minute_ms)
  })

  test('shadow and suspended rules are evaluated as live ones', () => {
    const result = preview([9], { mode: 'shadow', suspend: true })
    expect([result.messages, result.recipients]).toEqual([{ opened: 1 }, ['chat']])
  })

  test('names the channels of the escalation that is reached without a person', () => {
    const escalation = [
      { after: '10m', notify: ['pager'] },
      { after: '2h', notify: ['manager'] },
    ]
    const values = Array.from({ length: 30 }, () => 9)
    expect(preview(values, { escalation }).recipients).toEqual(['chat', 'pager'])
    expect(preview(values, { escalation }, 300).recipients).toEqual(['chat', 'manager', 'pager'])
  })

  test('a flapping rule has one message instead of each opening, and closes', () => {
    const values = Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? 9 : 1))
    const result = preview([...values, ...Array.from({ length: 40 }, () => 1)])
    expect(result.messages).toMatchObject({ opened: 1, reopened: 3, flapping: 1, resolved: 5 })
  })

  test('an ungrouped rule without rows has a group, and no data', () => {
    const condition = { signal: 'absent', window: '2m' }
    expect(textOf(preview([1, null, null], { condition }))).toEqual(['fired@2'])
  })

  test('the number of groups is limited, the others are overflow', () => {
    const run = new RulePreview(ruleOf({ group_by: ['model'] }), { from_ms, to_ms: at(5) })
    const groups = Array.from({ length: 502 }, (_, index) => ({
      ...{ group: { model: `m-${index}` }, sample: sampleOf(9) },
    }))
    expect(run.addSlot({ end_ms: at(1), groups, empty: sampleOf(null) })).toBe(500)
    const { overflow, groups: seen, series } = run.result()
    expect([overflow, seen.length, series.length]).toEqual([2, 500, 10])
  })

  test('values of a long range are reduced to 500 points that keep the highest', () => {
    const values = Array.from({ length: 5_000 }, (_, index) => (index === 3_333 ? 4.5 : index % 4))
    const points = preview(values).series[0]?.points ?? []
    expect(points.length).toBeLessThanOrEqual(501)
    expect(Math.max(...points.map(({ value }) => value ?? 0))).toBe(4.5)
  })

  test('event rules count matches, and end after their last match', () => {
    const event = { match: { source: 'finding' }, count: 2, within: '10m' }
    const rule = ruleOf({ condition: undefined, event, keep_firing_for: '30m' })
    const run = new RulePreview(rule, { from_ms, to_ms: at(300) })
    for (const minute of [1, 20, 25, 40, 200]) run.addMatch({}, at(minute))
    const result = run.result()
    expect(textOf(result)).toEqual(['fired@25', 'ended@70'])
    expect(result.firing_ms).toBe(45 * minute_ms)
  })

  test('the time of firing is that of the minutes in which a value is above the threshold', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(1, 9), { minLength: 1, maxLength: 60 }), (values) => {
        const { firing_ms, transitions } = preview(values)
        const high = values.slice(0, -1).filter((value) => value === 9).length
        expect(firing_ms).toBe(high * minute_ms)
        const starts = values.filter((value, index) => value === 9 && values[index - 1] !== 9)
        expect(transitions.filter(({ type }) => type === 'fired')).toHaveLength(starts.length)
      }),
      { numRuns: 100 },
    )
  })
})
