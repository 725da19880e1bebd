import fc from 'fast-check'
import { type Rule, ruleShape } from '../../../src/capabilities/incidents/rules/rule.ts'
import { severities } from '../../../src/model/severity.ts'
import { firingContributors, modelIncidents } from './incident-model.ts'
import type { KeyEntry, KeyHistory } from './key-history.ts'

const maybe = (...values: string[]) => fc.option(fc.constantFrom(...values), { nil: undefined })

function contributor(name: string): fc.Arbitrary<Rule> {
  const fields = fc.record({
    name: fc.constant(name),
    severity: fc.constantFrom(...severities),
    condition: fc.constant({ signal: 'cost', window: '10m', threshold: 5 }),
    notify: fc.constantFrom(['ops'], ['ops', 'lead'], [`only-${name}`], []),
    reopen_within: fc.constantFrom('0s', '1m', '5m', '15m'),
    auto_resolve: fc.constantFrom(true, true, true, false),
    ack_timeout: maybe('3m', '10m'),
    repeat: fc.constantFrom('5m', '10m', '4h'),
    mode: fc.constantFrom('live', 'live', 'live', 'shadow'),
    steps: fc.uniqueArray(fc.constantFrom(2, 5, 11), { maxLength: 3 }),
  })
  return fields.map(({ repeat, steps, ...rest }) => {
    const inOrder = steps.toSorted((one, other) => one - other)
    const escalation = inOrder.map((after) => ({ after: `${after}m`, notify: [`step-${after}`] }))
    return ruleShape.parse({ ...rest, grouping: { repeat }, escalation })
  })
}

function seldom<T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, values)
}

/** An entry without its minute: `flip` fires or ends, whichever is next. */
const draft = fc.record({
  type: fc.constantFrom<(KeyEntry['type'] | 'flip')[]>(
    ...(['flip', 'flip', 'flip', 'flip', 'flip', 'flip', 'flip', 'flip', 'raised'] as const),
    ...(['acknowledge', 'resolve', 'reopen', 'assign'] as const),
    ...(['snooze', 'snooze', 'unsnooze'] as const),
  ),
  by: fc.constantFrom('a', 'a', 'a', 'b'),
  after: fc.constantFrom(1, 1, 2, 2, 5, 12),
  severity: fc.constantFrom(...severities),
  minutes: fc.constantFrom(1, 2, 3, 5, 12, 20),
  late: seldom(fc.integer({ min: 1, max: 5 })),
  incident: seldom(fc.integer({ min: 1, max: 3 })),
  version: seldom(fc.integer({ min: 1, max: 4 })),
})
type Draft = typeof draft extends fc.Arbitrary<infer T> ? T : never

const mute = fc
  .record({
    from: fc.integer({ min: 0, max: 80 }),
    minutes: fc.integer({ min: 1, max: 20 }),
    up_to: fc.option(fc.constantFrom(...severities), { nil: undefined }),
  })
  .map(({ from, minutes, up_to }) => {
    return { from, to: from + minutes, ...(up_to === undefined ? {} : { up_to }) }
  })

/**
 * Histories of a dedup key that two rules share, with at most one entry a minute. Each contributor
 * fires and ends in turn, with moves of people between; a group whose incident a person resolved
 * fires next.
 */
export const keyHistories: fc.Arbitrary<KeyHistory> = fc
  .record({
    a: contributor('a'),
    b: contributor('b'),
    mutes: fc.array(mute, { maxLength: 3 }),
    drafts: fc.array(draft, { minLength: 1, maxLength: 30, size: 'max' }),
  })
  .map(({ a, b, mutes, drafts }) => {
    let history: KeyHistory = { contributors: { a, b }, entries: [], mutes, until: 0 }
    for (const next of drafts) {
      const until = history.until + next.after
      const entry = entryOf({ ...history, until }, next)
      const added = entry === undefined ? [] : [entry]
      history = { ...history, until, entries: [...history.entries, ...added] }
    }
    return { ...history, until: history.until + 45 }
  })

function entryOf(history: KeyHistory, draft: Draft): KeyEntry | undefined {
  const { type, by, severity, late, incident, version, minutes } = draft
  const at = history.until
  if (type === 'flip' || type === 'raised' || type === 'fired' || type === 'ended') {
    const { marks } = modelIncidents(history)
    const isFiring = firingContributors(history, marks, history.entries.length).includes(by)
    if (type === 'raised') return isFiring ? { type, at, by, severity } : undefined
    if (isFiring) return { type: 'ended', at, by }
    const slot = late === undefined ? {} : { slot: Math.max(0, at - late) }
    return { type: 'fired', at, by, severity, ...slot }
  }
  const target = incident === undefined ? {} : { incident }
  const more = { ...target, ...(type === 'snooze' && { minutes }) }
  return { type, at, ...more, ...(version === undefined ? {} : { version }) }
}
