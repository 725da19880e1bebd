import { expect, test } from 'vitest'
import { type Checked, explainCheck, joinChecks } from './verdict.ts'

const part: Checked = {
  ...{ valid: true, from_seq: 1, seq: 10, records: 10, next_after: null, protected_seq: 10 },
  ...{ protected_at: null, pruned_seq: 0, checkpoints: 1, sinks_compared: 1, streams_compared: 0 },
  ...{ erased: 0, faults: [] },
}

test('a fault of an earlier part stays when later parts are sound', () => {
  const fault = { kind: 'hash', seq: 3, detail: 'differs' }
  const first = { ...part, valid: false, faults: [fault], next_after: 10 }
  const joined = joinChecks(first, { ...part, from_seq: 11, seq: 15, records: 5 })
  expect(joined).toMatchObject({ valid: false, from_seq: 1, seq: 15, records: 15, faults: [fault] })
  expect(joined.next_after).toBeNull()
  expect(joinChecks(undefined, part)).toEqual(part)
})

test('says which records are not protected, and that no copy was compared', () => {
  expect(explainCheck(part)[1]).toContain('protects all')
  const open = explainCheck({ ...part, protected_seq: 4, sinks_compared: 0, valid: false })
  expect(open[0]).toContain('does not fit')
  expect(open[1]).toContain('The last 6')
  expect(open[2]).toContain('LOOPTRACE_AUDIT_CHECKPOINT_SINKS')
  expect(explainCheck({ ...part, records: 0 })).toEqual(['The chain has no records yet.'])
})
