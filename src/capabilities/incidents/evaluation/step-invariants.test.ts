import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  failureRule,
  minute_ms,
  start_ms,
  valueSample,
} from '../../../../test/support/incident-steps.ts'
import { fuzzRuns } from '../../../../test/support/suite/budget.ts'
import type { GroupState, Slot } from './contract.ts'
import { afterResolve, step } from './step.ts'

const rules = fc
  .record({
    for: fc.constantFrom('0s', '1m', '3m'),
    keep_firing_for: fc.constantFrom('0s', '2m'),
    no_data: fc.constantFrom('ok', 'alerting', 'keep'),
  })
  .map((more) => failureRule(more))

/** Slots in any order, with gaps, partial and late ones, and resolves by hand. */
const actions = fc.array(
  fc.record({
    minute: fc.nat(12),
    value: fc.option(fc.integer({ min: 0, max: 8 })),
    lag_ms: fc.constantFrom(0, 0, 0, 600_000),
    pass: fc.constantFrom('first', 'first', 'late'),
    is_last_attempt: fc.boolean(),
    resolve: fc.constantFrom(false, false, false, false, true),
  }),
  { maxLength: 40 },
)

test('in any order of slots, firing and ending alternate, and a state is plain JSON', () => {
  fc.assert(
    fc.property(rules, actions, (rule, all) => {
      let state: GroupState | null = null
      for (const { minute, value, lag_ms, pass, is_last_attempt, resolve } of all) {
        const slot: Slot = {
          end_ms: start_ms + minute * minute_ms,
          pass: pass as Slot['pass'],
          is_last_attempt,
          has_open_incident: false,
          forget_after_ms: 8 * minute_ms,
        }
        if (resolve && state !== null) state = afterResolve(rule, state, slot.end_ms)
        const before: GroupState | null = state
        const copy = structuredClone(state)
        const result = step(rule, state, valueSample(value, { lag_ms }), slot)
        expect(state).toEqual(copy)
        state = result.state === null ? null : JSON.parse(JSON.stringify(result.state))
        expect(state).toEqual(result.state)
        checkTransitions(before, result.state, result.transitions, slot)
        checkState(result.state)
      }
    }),
    { numRuns: fuzzRuns(1500) },
  )
})

function checkTransitions(
  before: GroupState | null,
  after: GroupState | null,
  transitions: ReturnType<typeof step>['transitions'],
  slot: Slot,
): void {
  const types = transitions.map(({ type }) => type)
  const wasFiring = before?.phase === 'firing'
  const isFiring = after?.phase === 'firing'
  expect(types.includes('fired')).toBe(isFiring && !wasFiring)
  expect(types.includes('ended')).toBe(wasFiring && !isFiring)
  expect(types.includes('forgotten')).toBe(before !== null && after === null)
  if (slot.pass === 'late') expect(types.every((type) => type === 'fired')).toBe(true)
  for (const one of transitions) expect(one.slot_ms).toBe(slot.end_ms)
}

function checkState(state: GroupState | null): void {
  if (state === null) return
  expect(state.recent.length).toBeLessThanOrEqual(6)
  expect(state.severity === null).toBe(state.phase !== 'firing')
  const isInRun = state.run !== null || state.ahead !== null
  if (state.phase === 'pending' || state.phase === 'ok') {
    expect(state.phase).toBe(isInRun ? 'pending' : 'ok')
  }
  for (const run of [state.run, state.ahead]) {
    if (run !== null) expect(run.since_ms).toBeLessThanOrEqual(run.until_ms)
  }
}
