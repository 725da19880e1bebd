import { expect, test } from 'vitest'
import type { Certification } from '../evidence/contract.ts'
import {
  type PolicyDocument,
  policyBody,
  shareDefaults,
  toPolicyDocument,
} from '../policy/policy.ts'
import type { Frozen } from './frozen.ts'
import { toPredicate } from './to-predicate.ts'

const project_id = '0197a1b2-0000-7000-8000-000000000001'
const certification = {
  ...{ project_id, release_name: 'agent', release_version: '1.0.0', release_tags: ['1.0.0'] },
  ...{ environment: 'staging', attempt: 1, policy_digest: 'a'.repeat(64), baseline: null },
  ...{ window_from: '2026-01-01T00:00:00.000Z', window_to: '2026-01-02T00:00:00.000Z' },
  declared_at: '2026-01-01T00:00:00.000Z',
} as Partial<Certification> as Certification

const frozen: Frozen = {
  at: '2026-01-02T00:00:00.000Z',
  ledger: { accepted: 600, stored: 600, lost: 0, pending: 0 },
  ...{ obstacles: [], warnings: ['many_unanalysed_tasks'], eval_runs: [] },
}

const release = Array.from({ length: 600 }, (_, at) => ({
  ...{ id: `t${at}`, cluster: `u${at % 60}`, group: null, case_id: null },
  values: { task_success_rate: 1 },
}))

const rules = policyBody.parse({
  gates: [{ metric: 'task_success_rate', kind: 'absolute', threshold: 0.8 }],
})

/** A policy as it was stored before policies had shares. */
function oldPolicy(): PolicyDocument {
  const document: Record<string, unknown> = toPolicyDocument('default', 1, rules)
  for (const field of Object.keys(shareDefaults)) delete document[field]
  return document as PolicyDocument
}

test('a certification of an earlier version has the fields that it had', async () => {
  const source = { certification, policy: oldPolicy(), frozen }
  const predicate = await toPredicate({ ...source, evidence: { release, baseline: [] } })
  expect(predicate).toMatchObject({ verdict: 'certified', warnings: ['many_unanalysed_tasks'] })
  expect(Object.keys(predicate)).not.toContain('tasks')
})

test('a policy of an earlier version has the default shares', async () => {
  const counts = {
    ...{ total: 600, late: 7, altered: 0, equal: 0, jump: 0 },
    ...{ running: 0, unanalysed: 0, unchecked: 0, unverified: 0, unpriced: 0 },
  }
  const tasks = { release: counts, baseline: null }
  const source = { certification, policy: oldPolicy(), frozen: { ...frozen, tasks } }
  expect(await toPredicate({ ...source, evidence: { release, baseline: [] } })).toMatchObject({
    ...{ verdict: 'inconclusive', obstacles: ['late_evidence'], tasks: counts },
  })
})
