import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readEvalFile } from '../../capabilities/certification/index.ts'
import type { CertificationAnswer, GateAnswer } from './certification-answer.ts'
import { escapeXml, junitReport } from './junit-report.ts'
import { literal, markdownReport } from './markdown-report.ts'

const gateOf = (change: Partial<GateAnswer> = {}): GateAnswer => ({
  ...{ metric: 'task_success_rate', kind: 'absolute', tier: 'critical', direction: 'higher' },
  ...{ limit: 0.95, group: null, n: 400, clusters: 50, estimate: 0.98, interval: [0.961, 0.991] },
  ...{ verdict: 'passed', reason: null, warnings: [] },
  ...change,
})

const answerOf = (change: Partial<CertificationAnswer> = {}): CertificationAnswer => ({
  ...{ certification_id: '0199', state: 'ended', result: 'certified', subject: 'sha256:ab' },
  policy: { id: 'default', version: '2', digest: 'cd' },
  release: { name: 'support-agent', version: '1.4.0' },
  ...{ environment: 'staging', attempt: 1, max_attempts: 5, obstacles: [], warnings: [] },
  window: { from: '2026-03-01T00:00:00.000Z', to: '2026-03-02T00:00:00.000Z' },
  gates: [gateOf()],
  ledger: { accepted: 9, lost: 0, pending: 0 },
  ...{ expires_at: null, error: null },
  ...change,
})

test('reports name tasks without an environment', () => {
  const none = answerOf({ environment: null })
  expect(markdownReport(none)).toContain('No environment, policy')
  expect(junitReport(none)).toContain('<property name="environment" value=""/>')
})

describe('a JUnit report', () => {
  test('has a case for each gate and for the verdict, as CI systems read it', () => {
    const report = junitReport(
      answerOf({
        result: 'rejected',
        gates: [
          gateOf(),
          gateOf({ metric: 'loop_rate', direction: 'lower', limit: 0.02, verdict: 'failed' }),
          gateOf({ kind: 'worst_group', group: 'refund', verdict: 'inconclusive' }),
          gateOf({ metric: 'cost_mean_usd', tier: 'advisory', verdict: 'failed' }),
        ],
      }),
    )
    expect(report).toContain('tests="5" failures="2" errors="1" skipped="1"')
    expect(report).toContain(
      '<failure message="failed: 0.98 [0.961, 0.991], expected ≤ 0.02, n = 400"/>',
    )
    expect(readEvalFile('junit', report).map(({ case_id, passed }) => [case_id, passed])).toEqual([
      ['looptrace.certify.task_success_rate absolute · critical', true],
      ['looptrace.certify.loop_rate absolute · critical', false],
      ['looptrace.certify.task_success_rate worst_group · refund · critical', false],
      ['looptrace.certify.cost_mean_usd absolute · advisory', null],
      ['looptrace.certify.verdict', false],
    ])
  })

  test('of an inconclusive certification has an error with its obstacles', () => {
    const report = junitReport(answerOf({ result: 'inconclusive', obstacles: ['ledger_lost'] }))
    expect(report).toContain('<error message="inconclusive: ledger_lost"/>')
  })

  test('keeps any text, and no text becomes an element', () => {
    const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 60 })
    fc.assert(
      fc.property(text, (group) => {
        const report = junitReport(
          answerOf({ gates: [gateOf({ group })], release: { name: group, version: group } }),
        )
        // A case id has no control characters; the report itself must still be well-formed.
        const isPlain = !/[\p{Cc}\ufffe\uffff]/u.test(group) && group.isWellFormed()
        if (!isPlain) {
          expect(report.match(/<testcase /g)).toHaveLength(2)
          return
        }
        const [first] = readEvalFile('junit', report)
        expect(first?.case_id).toBe(
          `looptrace.certify.task_success_rate absolute · ${group} · critical`,
        )
      }),
    )
    expect(escapeXml('"/><failure/>\u0000\ud800')).toBe('&#34;/&#62;&#60;failure/&#62;\ufffd\ufffd')
  })
})

describe('a report in Markdown', () => {
  test('shows the verdict, each gate and the obstacles', () => {
    const report = markdownReport(
      answerOf({
        result: 'rejected',
        obstacles: ['too_many_attempts'],
        gates: [gateOf(), gateOf({ metric: 'loop_rate', verdict: 'failed' })],
      }),
    )
    expect(report.split('\n')[0]).toBe(
      '## ❌ <code>support&#45;agent&#64;1&#46;4&#46;0</code>: <code>rejected</code>',
    )
    expect(report).toContain('Not certified because of: <code>too&#95;many&#95;attempts</code>')
    expect(report.match(/^\| .* \|$/gm)).toHaveLength(3)
    expect(report).toContain('| 400 of 50 users | ❌ <code>failed</code> |')
  })

  test('has no structure that a name brings', () => {
    const hostile = [
      '| passed | passed |\n| x | y |',
      '\\| a',
      '`` ` ``',
      '</code><script>alert(1)</script>',
      '[click](javascript:alert(1)) ![x](https://evil.example/x.png)',
      '@everyone #1 https://evil.example www.evil.example',
      '**bold** _it_ ~~no~~ <!-- ',
      '\u202egnissap',
    ]
    for (const group of hostile) {
      const answer = answerOf({
        ...{ gates: [gateOf({ group })], environment: group, obstacles: [group] },
        release: { name: group, version: group },
      })
      const plain = markdownReport(answerOf({ obstacles: ['x'] }))
      const report = markdownReport(answer)
      const structure = (text: string) => text.replaceAll(/<code>[A-Za-z0-9 &#;]*<\/code>/g, 'C')
      expect(structure(report)).toBe(structure(plain))
    }
  })

  test('keeps any text as character references', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(literal(text)).toMatch(/^<code>([A-Za-z0-9 ]|&#\d+;)*<\/code>$/)
      }),
    )
  })
})
