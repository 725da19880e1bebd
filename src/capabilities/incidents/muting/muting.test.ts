import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { failureRule } from '../../../../test/support/incident-steps.ts'
import { type InhibitionSource, inhibitors, mutualInhibition } from './inhibition.ts'
import {
  isActive,
  isMatch,
  type Matched,
  occurrencesOf,
  suppressionBody,
  timesOf,
} from './suppression.ts'

const suppressionOf = (more: object = {}) =>
  suppressionBody.parse({
    matchers: [{ field: 'rule', value: 'failures' }],
    expires_at: '2027-01-01T00:00:00Z',
    comment: 'maintenance',
    ...more,
  })

const activeAt = (more: object, ...times: string[]) =>
  times.map((time) => isActive(suppressionOf(more), Date.parse(time)))

describe('times of a suppression', () => {
  test('a window begins inclusively and ends exclusively', () => {
    const windows = [{ from: '2026-01-05T12:00:00Z', to: '2026-01-05T13:00:00Z' }]
    expect(
      activeAt(
        { windows },
        ...['2026-01-05T11:59:59.999Z', '2026-01-05T12:00:00Z'],
        ...['2026-01-05T12:59:59.999Z', '2026-01-05T13:00:00Z'],
      ),
    ).toEqual([false, true, true, false])
  })

  test('a recurrence begins at the local time of its time zone, in summer and winter', () => {
    const recurrence = { cron: '0 22 * * 6', duration: '4h', time_zone: 'Europe/Berlin' }
    // Saturdays, 22:00 in Berlin: 21:00Z in winter, 20:00Z in summer.
    expect(
      activeAt(
        { recurrence },
        ...['2026-01-10T20:59:59Z', '2026-01-10T21:00:00Z', '2026-01-11T00:59:59Z'],
        ...['2026-01-11T01:00:00Z', '2026-07-11T20:00:00Z', '2026-07-12T00:00:00Z'],
      ),
    ).toEqual([false, true, true, false, true, false])
  })

  test('a window across the end of summer time has its duration', () => {
    // 2026-10-25 03:00 in Berlin is 02:00 again: the window begins at 22:00Z.
    const recurrence = { cron: '0 0 25 10 *', duration: '4h', time_zone: 'Europe/Berlin' }
    expect(
      activeAt(
        { recurrence },
        '2026-10-24T22:00:00Z',
        '2026-10-25T01:59:59Z',
        '2026-10-25T02:00:00Z',
      ),
    ).toEqual([true, true, false])
  })

  test('nothing is in effect after the expiry', () => {
    const recurrence = { cron: '* * * * *', duration: '1m' }
    expect(activeAt({ recurrence }, '2026-12-31T23:59:59Z', '2027-01-01T00:00:00Z')).toEqual([
      true,
      false,
    ])
    expect(activeAt({}, '2026-12-31T23:59:59Z', '2027-01-01T00:00:00Z')).toEqual([true, false])
  })

  test.each([
    [{ expires_at: undefined }, 'otherwise the mute has no end'],
    [{ windows: [{ from: '2026-01-05T12:00:00Z', to: '2026-01-05T12:00:00Z' }] }, 'after 2026'],
    [{ recurrence: { cron: '0 25 * * *', duration: '1h' } }, 'expected a cron schedule'],
    [{ recurrence: { cron: '0 0 30 2 *', duration: '1h' } }, 'that occurs'],
    [
      { recurrence: { cron: '0 0 * * *', duration: '1h', time_zone: 'Mars/Base' } },
      'Europe/Berlin',
    ],
    [{ matchers: [{ field: 'rule', op: 'in', value: 'a' }] }, 'expect a list'],
    [{ matchers: [{ field: 'rule', op: 'lte', value: 'low' }] }, 'compares severities'],
    [{ matchers: [{ field: 'severity', value: 'hihg' }] }, 'expected one of info, low'],
    [{ matchers: [{ field: 'group.user_id', value: 'a' }] }, 'group.<dimension>'],
    [{ matchers: [] }, '>=1'],
  ])('refuses %j', (more, message) => {
    expect(() => suppressionOf(more)).toThrow(message)
  })
})

describe('matchers', () => {
  const incident: Matched = {
    rule: 'failures',
    severity: 'medium',
    dedup_key: 'k',
    labels: { team: 'search' },
    group: { model: 'gpt-4o' },
  }
  const matches = (...matchers: object[]) => isMatch(suppressionOf({ matchers }), incident)

  test.each([
    [true, { field: 'rule', value: 'failures' }],
    [false, { field: 'rule', op: 'ne', value: 'failures' }],
    [true, { field: 'labels.team', op: 'in', value: ['ads', 'search'] }],
    [false, { field: 'labels.team', op: 'not_in', value: ['ads', 'search'] }],
    [true, { field: 'group.model', op: 'glob', value: 'gpt-*' }],
    [false, { field: 'group.model', op: 'glob', value: 'claude-*' }],
    [true, { field: 'group.release', value: '' }],
    [false, { field: 'labels.constructor', op: 'glob', value: '?*' }],
    [true, { field: 'severity', op: 'lte', value: 'medium' }],
    [false, { field: 'severity', op: 'gte', value: 'high' }],
  ])('%s: %j', (isMatched, matcher) => {
    expect(matches(matcher)).toBe(isMatched)
  })

  test('all matchers must match', () => {
    const mine = { field: 'rule', value: 'failures' }
    expect(matches(mine, { field: 'dedup_key', value: 'k' })).toBe(true)
    expect(matches(mine, { field: 'dedup_key', value: 'other' })).toBe(false)
  })

  test('raised beyond the matcher: the suppression no longer matches', () => {
    const low = suppressionOf({ matchers: [{ field: 'severity', op: 'lte', value: 'medium' }] })
    expect(isMatch(low, incident)).toBe(true)
    expect(isMatch(low, { ...incident, severity: 'critical' })).toBe(false)
  })
})

test('the state and the next start agree with the minutes in which a suppression is in effect', () => {
  const minute = (at: number) => new Date(Date.UTC(2026, 10, 23) + at * 60_000).toISOString()
  const window = fc
    .tuple(fc.nat(20), fc.integer({ min: 1, max: 5 }))
    .map(([from, length]) => ({ from: minute(from), to: minute(from + length) }))
  fc.assert(
    fc.property(
      fc.array(window, { minLength: 1, maxLength: 3 }),
      fc.option(fc.integer({ min: 0, max: 30 }), { nil: undefined }),
      fc.nat(28),
      (windows, end, now) => {
        const expires_at = end === undefined ? undefined : minute(end)
        const suppression = suppressionOf({ windows, expires_at })
        const isOn = (at: number) => isActive(suppression, Date.parse(minute(at)))
        const later = Array.from({ length: 30 }, (_, at) => at).filter((at) => at > now)
        const upcoming = later.some(isOn) ? 'upcoming' : 'expired'
        const { state, next_start_ms } = timesOf(suppression, Date.parse(minute(now)))
        expect(state).toBe(isOn(now) ? 'active' : upcoming)
        const starts = later.filter((at) => windows.some(({ from }) => from === minute(at)))
        const start = starts.find((at) => end === undefined || at < end)
        expect(next_start_ms).toBe(start === undefined ? null : Date.parse(minute(start)))
      },
    ),
    { numRuns: 300 },
  )
})

test('listed occurrences cover the minutes in which a suppression is in effect, and no others', () => {
  const start_ms = Date.UTC(2026, 10, 23)
  const minute_ms = (at: number) => start_ms + at * 60_000
  const text = (at: number) => new Date(minute_ms(at)).toISOString()
  const window = fc
    .tuple(fc.integer({ min: -5, max: 60 }), fc.integer({ min: 1, max: 20 }))
    .map(([from, length]) => ({ from: text(from), to: text(from + length) }))
  const recurrence = fc.record({
    cron: fc.constantFrom('*/7 * * * *', '5 * * * *', '0,9 0 * * *', '30 23 * * *'),
    duration: fc.constantFrom('1m', '6m', '10m', '45m'),
    time_zone: fc.constantFrom('UTC', 'Europe/Berlin'),
  })
  fc.assert(
    fc.property(
      fc.array(window, { maxLength: 3 }),
      fc.option(recurrence, { nil: undefined }),
      fc.option(fc.integer({ min: -3, max: 90 }), { nil: undefined }),
      (windows, again, given) => {
        const end = given ?? (windows.length === 0 && again === undefined ? 90 : undefined)
        const expires_at = end === undefined ? undefined : text(end)
        const suppression = suppressionOf({ windows, recurrence: again, expires_at })
        const listed = occurrencesOf(suppression, minute_ms(0), minute_ms(80))
        const minutes = Array.from({ length: 80 }, (_, at) => minute_ms(at))
        const covered = minutes.filter((at_ms) =>
          listed.some(({ from_ms, to_ms }) => from_ms <= at_ms && at_ms < to_ms),
        )
        expect(covered).toEqual(minutes.filter((at_ms) => isActive(suppression, at_ms)))
      },
    ),
    { numRuns: 300 },
  )
})

test('a schedule of many times an hour lists 100 occurrences', () => {
  const recurrence = { cron: '*/2 * * * *', duration: '1m', time_zone: 'UTC' }
  const listed = occurrencesOf(suppressionOf({ recurrence }), 0, 14 * 86_400_000)
  expect(listed).toHaveLength(100)
})

describe('inhibition', () => {
  const inhibited = failureRule({ inhibited_by: [{ rule: 'outage', equal: ['provider'] }] })
  const outage = failureRule({ name: 'outage', labels: { scope: 'provider' } })
  const source = (more: Partial<InhibitionSource> = {}): InhibitionSource => ({
    id: 'outage-1',
    state: 'open',
    rule: outage,
    group: { provider: 'openai' },
    ...more,
  })
  const target = { id: 'failures-1', rule: inhibited, group: { provider: 'openai' } }

  test('by rule, with equal dimensions', () => {
    expect(inhibitors(target, [source()])).toEqual(['outage-1'])
    expect(inhibitors(target, [source({ group: { provider: 'gemini' } })])).toEqual([])
    expect(inhibitors(target, [source({ rule: inhibited })])).toEqual([])
  })

  test('by labels', () => {
    const rule = failureRule({
      inhibited_by: [{ labels: { scope: 'provider' }, equal: ['provider'] }],
    })
    expect(inhibitors({ ...target, rule }, [source()])).toEqual(['outage-1'])
    expect(inhibitors({ ...target, rule }, [source({ rule: failureRule() })])).toEqual([])
  })

  test('a dimension that both lack is not equal', () => {
    expect(inhibitors({ ...target, group: {} }, [source({ group: {} })])).toEqual([])
  })

  test('acknowledged sources inhibit, resolved ones and the incident itself do not', () => {
    expect(inhibitors(target, [source({ state: 'acknowledged' })])).toEqual(['outage-1'])
    expect(inhibitors(target, [source({ state: 'resolved' })])).toEqual([])
    expect(inhibitors({ ...target, id: 'outage-1' }, [source()])).toEqual([])
  })

  const named = (name: string, by: object[], labels: object = {}) =>
    failureRule({
      name,
      labels,
      inhibited_by: by.map((one) => ({ ...one, equal: ['model'] })),
    })

  test('mutual inhibition is refused, by name, by labels, and over other rules', () => {
    expect(mutualInhibition([named('a', [{ rule: 'b' }]), named('b', [])])).toBeUndefined()
    expect(mutualInhibition([named('a', [{ rule: 'b' }]), named('b', [{ rule: 'a' }])])).toEqual([
      'a',
      'b',
      'a',
    ])
    const chain = [
      named('start', [{ rule: 'b' }]),
      named('b', [{ rule: 'c' }]),
      named('c', [{ labels: { k: 'v' } }]),
      named('d', [{ rule: 'b' }], { k: 'v' }),
    ]
    expect(mutualInhibition(chain)).toEqual(['b', 'c', 'd', 'b'])
    expect(mutualInhibition([named('a', [{ labels: { k: 'v' } }], { k: 'v' })])).toEqual(['a', 'a'])
  })

  test('rules that share a source are not mutual', () => {
    const rules = [
      named('a', [{ rule: 'c' }, { rule: 'b' }]),
      named('b', [{ rule: 'c' }]),
      named('c', []),
    ]
    expect(mutualInhibition(rules)).toBeUndefined()
  })

  test('a path is found exactly if a rule reaches itself, as a naive search finds', () => {
    const names = ['a', 'b', 'c', 'd', 'e']
    const inhibition = fc.oneof(
      fc.record({ rule: fc.constantFrom(...names) }),
      fc.record({
        labels: fc.dictionary(fc.constantFrom('k', 'l'), fc.constantFrom('v', 'w'), { minKeys: 1 }),
      }),
    )
    const rule = fc.record({
      by: fc.array(inhibition, { maxLength: 2 }),
      labels: fc.dictionary(fc.constantFrom('k', 'l'), fc.constantFrom('v', 'w')),
    })
    fc.assert(
      fc.property(fc.array(rule, { maxLength: names.length }), (given) => {
        const rules = given.map(({ by, labels }, at) => named(names[at] ?? '', by, labels))
        const path = mutualInhibition(rules)
        expect(path !== undefined).toBe(rules.some(({ name }) => reaches(rules, name).has(name)))
        if (path === undefined) return
        expect(path[0]).toBe(path.at(-1))
        for (const [at, name] of path.slice(0, -1).entries()) {
          expect(reaches(rules, name, 1)).toContain(path[at + 1])
        }
      }),
      { numRuns: 300 },
    )
  })

  /** Returns the names of all rules that a rule reaches in some steps, by repeated search. */
  function reaches(rules: readonly ReturnType<typeof named>[], from: string, steps = 9) {
    let found = new Set<string>()
    for (let step = 0; step < steps; step += 1) {
      const next = rules.filter((other) =>
        rules.some(
          ({ name, inhibited_by }) =>
            (name === from || found.has(name)) &&
            inhibited_by.some(({ rule, labels }) =>
              rule === undefined
                ? Object.entries(labels ?? {}).every(([key, text]) => other.labels[key] === text)
                : rule === other.name,
            ),
        ),
      )
      found = new Set([...found, ...next.map(({ name }) => name)])
    }
    return found
  }
})
