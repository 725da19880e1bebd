import { execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { expect, test } from 'vitest'
import { encodeStatement, type Predicate, readStatement } from './statement.ts'

const predicate: Predicate = {
  project_id: '0197a1b2-0000-7000-8000-000000000001',
  policy: { id: 'release', version: '3', digest: hash('sha256', 'policy') },
  release: { name: 'checkout ü', version: '1.4.0' },
  release_tags: ['1.4.0'],
  ...{ baseline: null, environment: 'staging', verdict: 'inconclusive', gates: [] },
  ...{ obstacles: [], warnings: [], eval_runs: [], declared_at: '2026-03-01T00:00:00Z' },
  window: { from: '2026-03-01T00:00:00Z', to: '2026-03-02T00:00:00Z' },
  ledger: { accepted: 1, stored: 1, lost: 0, pending: 0 },
  ...{ attempt: 1, max_attempts: 5 },
  ...{ issued_at: '2026-03-02T01:00:00Z', expires_at: '2026-04-02T00:00:00Z' },
}

test('equal statements have equal bytes, in another process and with another order', () => {
  const reversed = Object.fromEntries(Object.entries(predicate).reverse())
  const file = new URL('./statement.ts', import.meta.url).href
  const code = `
    const { encodeStatement } = await import(${JSON.stringify(file)})
    process.stdout.write(encodeStatement(${JSON.stringify(reversed)}))`
  const args = ['--input-type=module', '--eval', code]
  expect(execFileSync(process.execPath, args)).toEqual(encodeStatement(predicate))
})

test('without an image, the subject is the SHA-256 of name@version', () => {
  const { subject } = readStatement(encodeStatement(predicate))
  expect(subject[0].digest.sha256).toBe(hash('sha256', 'checkout ü@1.4.0'))
})

test('numbers that are not finite can not be encoded', () => {
  const gates: Predicate['gates'] = [
    {
      ...{ metric: 'm', kind: 'absolute', tier: 'advisory', n: 1, k: null, estimate: Number.NaN },
      ...{ interval: null, verdict: 'inconclusive', reason: 'too_few_samples', warnings: [] },
      ...{ direction: 'higher', limit: 0.9, group: null, clusters: 1, baseline_n: null },
      evidence: { root: hash('sha256', ''), leaves: 1 },
    },
  ]
  expect(() => encodeStatement({ ...predicate, gates })).toThrow(/gates\.0\.estimate/)
})
