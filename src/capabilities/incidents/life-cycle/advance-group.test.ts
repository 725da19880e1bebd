import { expect, test } from 'vitest'
import {
  failureRule,
  minute_ms,
  start_ms,
  valueSample,
} from '../../../../test/support/incident-steps.ts'
import type { GroupState } from '../evaluation/contract.ts'
import { advanceGroup } from './advance-group.ts'
import type { Incident } from './incident.ts'
import type { Muting } from './notices.ts'

const audible = { suppressed_by: [], inhibited_by: [] }

/** Groups of rules that share incidents by their dedup keys, as an evaluation in memory. */
class World {
  readonly states = new Map<string, GroupState | null>()
  newest: Incident | undefined
  readonly notices: string[] = []
  muting: (incident: Incident) => Muting = () => audible

  /** Evaluates the group of a model at a minute. */
  at(minute: number, model: string, value: number | null, pass: 'first' | 'late' = 'first'): this {
    const rule = failureRule({ group_by: ['model'], dedup_key: 'failures', notify: ['on-call'] })
    const known = { rule, group: { model }, state: this.states.get(model) ?? null }
    const advanced = advanceGroup(
      { ...known, newest: this.newest },
      {
        sample: valueSample(value),
        now_ms: start_ms + minute * minute_ms,
        slot: {
          end_ms: start_ms + minute * minute_ms,
          pass,
          is_last_attempt: false,
          forget_after_ms: 60 * minute_ms,
        },
        mutingOf: this.muting,
      },
    )
    this.states.set(model, advanced.state)
    this.newest = advanced.newest
    for (const { reason, at_ms } of advanced.notices) {
      this.notices.push(`${(at_ms - start_ms) / minute_ms} ${reason}`)
    }
    return this
  }
}

test('groups with one key share an incident from the first opening to the last end', () => {
  const world = new World().at(0, 'a', 9).at(0, 'b', 0).at(1, 'a', 9).at(1, 'b', 9)
  world.at(2, 'a', 0).at(2, 'b', 9).at(3, 'b', 0)
  expect(world.notices).toEqual(['0 opened', '3 resolved'])
})

test('a late slot of another group before the opening or resolve opens nothing', () => {
  const world = new World().at(0, 'a', 0).at(0, 'b', 0).at(1, 'a', 9).at(1, 'b', 0).at(2, 'a', 0)
  world.at(2, 'b', 0).at(1, 'b', 9, 'late').at(2, 'b', 9, 'late')
  expect(world.notices).toEqual(['1 opened', '2 resolved'])
  // The group does not fire silently: its next true slot reopens.
  expect(world.at(3, 'b', 9).notices.at(-1)).toBe('3 reopened')
})

test('an opening under a suppression is recorded without a message', () => {
  const world = new World()
  world.muting = () => ({ ...audible, suppressed_by: ['maintenance'] })
  world.at(0, 'a', 9)
  expect(world.newest).toMatchObject({ state: 'open', suppressed_by: ['maintenance'] })
  expect(world.at(1, 'a', 0).newest?.state).toBe('resolved')
  expect(world.notices).toEqual([])
})

test('a group without rows is kept while its incident is open', () => {
  const world = new World().at(0, 'a', 0).at(0, 'b', 9)
  expect(world.at(90, 'a', null).states.get('a')).not.toBeNull()
  expect(world.at(90, 'b', 0).at(91, 'a', null).states.get('a')).toBeNull()
})
