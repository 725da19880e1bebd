import { expect, test } from 'vitest'
import type { Finding } from './finding.ts'
import type { NewFinding } from './new-findings.ts'
import { compareFindings, sumChanges } from './write-result.ts'

const place = { trace_id: 't', observation_id: 'o' }

function found(given: Partial<NewFinding> = {}): NewFinding {
  return {
    ...{ finding_id: 'f1', project_id: 'p', task_id: 'task', kind: 'loop', type: 'repeat_call' },
    ...{ detector: 'repeat_call', detector_version: 1, severity: 'medium', state: 'open' },
    ...{ summary: 'said', start_step: 0, end_step: 2, period: 1, repeats: 3, places: [place] },
    ...{ trace_ids: ['t'], wasted_tokens: 5, wasted_cost_usd: '0.5', recovered: false },
    ...{ confidence: 0.5, evidence: { a: 1, b: [2] }, judge: null },
    started_at: '2026-11-21T00:00:00.000Z',
    ...given,
  }
}

function stored(given: Partial<Finding> = {}): Finding {
  return { ...found(), first_detected_at: 'then', updated_at: 'then', ...given }
}

const anywhere = { wasAnalysed: () => true, isThere: () => true }

test('the same finding is unchanged, in any spelling of the store', () => {
  const before = stored({ evidence: { b: [2], a: 1 }, wasted_cost_usd: '0.500000000' })
  const { changes, put } = compareFindings({ stored: [before], found: [found()], ...anywhere })
  expect(changes).toMatchObject({ unchanged: ['f1'], updated: [], opened: [] })
  expect(put).toEqual([])
})

test('opens a new finding, updates a changed one, recovers a resolved one', () => {
  const now = [
    found({ finding_id: 'new' }),
    found({ finding_id: 'grown', repeats: 4 }),
    found({ finding_id: 'over', recovered: true, state: 'recovered' }),
    found({ finding_id: 'back' }),
  ]
  const before = [
    stored({ finding_id: 'grown' }),
    stored({ finding_id: 'over' }),
    stored({ finding_id: 'back', state: 'withdrawn' }),
  ]
  const { changes, put } = compareFindings({ stored: before, found: now, ...anywhere })
  expect(changes).toEqual({
    opened: ['new', 'back'],
    updated: ['grown'],
    recovered: ['over'],
    withdrawn: [],
    unchanged: [],
  })
  expect(put).toHaveLength(4)
})

test('withdraws a finding that is not found again, once', () => {
  const once = compareFindings({ stored: [stored()], found: [], ...anywhere })
  expect([once.withdrawn, once.kept]).toEqual([['f1'], []])
  const gone = [stored({ state: 'withdrawn' })]
  expect(compareFindings({ stored: gone, found: [], ...anywhere }).withdrawn).toEqual([])
})

test('keeps it if its detector could not analyse or its observations are gone', () => {
  const unseen = { ...anywhere, wasAnalysed: () => false }
  const gone = { ...anywhere, isThere: () => false }
  for (const about of [unseen, gone]) {
    const { withdrawn, kept, changes } = compareFindings({
      stored: [stored()],
      found: [],
      ...about,
    })
    expect([withdrawn, kept.length, changes.unchanged]).toEqual([[], 1, ['f1']])
  }
})

const none = { opened: [], updated: [], recovered: [], withdrawn: [], unchanged: [] }

test('an opened finding stays opened over later analyses', () => {
  const looks = [
    { ...none, opened: ['a'], unchanged: ['b', 'c'] },
    { ...none, opened: ['d'], withdrawn: ['c'] },
    { ...none, updated: ['a'], unchanged: ['b', 'd'] },
  ]
  const opened = ['a', 'd']
  expect(sumChanges(looks)).toEqual({ ...none, opened, withdrawn: ['c'], unchanged: ['b'] })
})

test('a recovered finding is not listed as updated too', () => {
  const looks = [
    { ...none, updated: ['a', 'b'] },
    { ...none, recovered: ['a'], unchanged: ['b'] },
  ]
  expect(sumChanges(looks)).toEqual({ ...none, updated: ['b'], recovered: ['a'] })
})
