import { expect, test } from 'vitest'
import { toClaimFindings, type VerifiedClaim } from './claim-findings.ts'

const value = { value: '€6.80', kind: 'money', at: [12, 17] as const, verdict: 'unsupported' }
const result = (verdict: string, method = 'words', verifier = 'kb') => ({
  ...{ verifier, verdict, method, confidence: 0.7, note: '', evidence: [] },
})

function findingsFrom(claim: Partial<VerifiedClaim>) {
  const whole: VerifiedClaim = {
    ...{ digest: 'd', text: 'Delivery is €6.80.', at: [0, 18], override: null },
    ...{ verdict: 'not_found', results: [], values: [], ...claim },
  }
  const at = '2026-11-01T00:00:00.000Z'
  const ids = { project_id: '0198c0de-0000-7000-8000-00000000000a', task_id: 't', run_id: 'r' }
  const place = { trace_id: '0198c0de-0000-7000-8000-00000000000b', observation_id: 'o' }
  const answer = { ...ids, ...place, started_at: at, verified_at: at, claims: [whole] }
  return toClaimFindings(answer).map(({ type, severity }) => `${type} ${severity}`)
}

const web = result('not_found', 'words', 'web')

test.each<[string, Partial<VerifiedClaim>, string[]]>([
  [
    'a value that the agent did not see',
    { results: [result('not_found', 'provenance')], values: [value] },
    ['unsupported_claim high'],
  ],
  [
    'a number that the agent did not see',
    { results: [result('not_found', 'provenance')], values: [{ ...value, kind: 'number' }] },
    ['unsupported_claim medium'],
  ],
  ['one verifier that knows nothing', { results: [result('not_found')], values: [value] }, []],
  [
    'two verifiers that know nothing',
    { results: [result('not_found'), web], values: [value] },
    ['unsupported_claim low'],
  ],
  ['two that know nothing of a claim without values', { results: [result('not_found'), web] }, []],
  ['one of two that is undecided', { results: [result('unverifiable'), web], values: [value] }, []],
  ['a contradiction', { verdict: 'contradicted' }, ['contradicted_claim high']],
  ['a contradiction that a person denies', { verdict: 'contradicted', override: 'supported' }, []],
  [
    'support that a person denies',
    { verdict: 'supported', override: 'contradicted' },
    ['contradicted_claim high'],
  ],
  ['support', { verdict: 'supported', results: [result('supported')], values: [value] }, []],
  ['no verdict', { verdict: 'unverifiable', values: [value] }, []],
])('%s', (_, claim, expected) => {
  expect(findingsFrom(claim)).toEqual(expected)
})
