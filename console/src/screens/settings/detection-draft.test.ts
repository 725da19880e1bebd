import { expect, test } from 'vitest'
import { changedSettings } from './detection-draft.ts'

const before = {
  cycle: { enabled: true, laps: 3 },
  context_overflow: { enabled: true, windows: { gpt: 1_000 } },
}

test('names only what differs', () => {
  expect(changedSettings(before, structuredClone(before))).toEqual([])
  const after = {
    cycle: { enabled: false, laps: 4 },
    context_overflow: { enabled: true, windows: { gpt: 2_000 } },
  }
  expect(changedSettings(before, after)).toEqual([
    'cycle.enabled',
    'cycle.laps',
    'context_overflow.windows',
  ])
})
