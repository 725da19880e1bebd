import { expect, test } from 'vitest'
import { ruleShape } from '../rules/rule.ts'
import { matchesChange } from './event-match.ts'

const ruleOf = (match: object) =>
  ruleShape.parse({ name: 'rule', severity: 'low', event: { match } })
const found = (type: string, kind = 'claim') => ({
  ...{ finding_id: 'f', kind, type, severity: 'high' as const, state: 'open' as const },
  ...{ confidence: 0.9, summary: 's' },
})

test.each<[string, object, string[]]>([
  ['verifications', { source: 'verification' }, ['unsupported_claim', 'contradicted_claim']],
  [
    'one type of verifications',
    { source: 'verification', types: ['contradicted_claim'] },
    ['contradicted_claim'],
  ],
  [
    'claims',
    { source: 'finding', kinds: ['claim'] },
    ['unsupported_value', 'unsupported_claim', 'contradicted_claim'],
  ],
  ['loops', { source: 'finding', kinds: ['loop'] }, ['repeat_call']],
  ['the ledger', { source: 'ledger' }, []],
])('a rule for %s', (_, match, expected) => {
  const findings = [
    found('repeat_call', 'loop'),
    ...['unsupported_value', 'unsupported_claim', 'contradicted_claim'].map((type) => found(type)),
  ]
  const rule = ruleOf(match)
  const matched = findings.filter((now) => matchesChange(rule, { now, before: undefined }))
  expect(matched.map(({ type }) => type)).toEqual(expected)
  for (const now of matched) {
    expect(matchesChange(rule, { now, before: now })).toBe(false)
    expect(matchesChange(rule, { now, before: { ...now, state: 'withdrawn' } })).toBe(true)
    expect(matchesChange(rule, { now: { ...now, state: 'withdrawn' }, before: now })).toBe(false)
  }
})
