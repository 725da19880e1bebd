import { expect, test } from 'vitest'
import { eventWarnings } from './event-warnings.ts'

type Match = NonNullable<Parameters<typeof eventWarnings>[0]>['match']

test.each<[Match, RegExp]>([
  [{ source: 'finding', types: ['repeat_cal'] }, /no detector finds `repeat_cal`.*repeat_call/],
  [{ source: 'finding', kinds: ['loop'], types: ['tool_failure'] }, /never matches.*kind failure/],
  [{ source: 'verification', types: ['repeat_call'] }, /no verification finds/],
  [{ source: 'ledger', types: ['tool_failure'] }, /source: finding/],
])('%j warns', (match, expected) => {
  const [warning] = eventWarnings({ match })
  expect(warning).toMatchObject({ path: ['event', 'match', 'types', 0] })
  expect(warning?.message).toMatch(expected)
})

test.each<Match>([
  { source: 'finding' },
  { source: 'finding', kinds: ['loop', 'failure'], types: ['repeat_call', 'tool_failure'] },
  { source: 'finding', types: ['contradicted_claim', 'unsupported_value'] },
  { source: 'verification', types: ['unsupported_claim'] },
  { source: 'ledger', types: ['lost', 'not_settled'] },
])('%j does not', (match) => {
  expect(eventWarnings({ match })).toEqual([])
})

test('rules of other kinds do not warn', () => {
  expect(eventWarnings(undefined)).toEqual([])
})
