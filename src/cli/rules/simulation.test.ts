import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fuzzRuns } from '../../../test/support/suite/budget.ts'
import { ruleBody } from '../../capabilities/incidents/rules/rule-faults.ts'
import { compileTest } from './compile-test.ts'
import { FaultSink } from './fault-sink.ts'
import { runTest } from './run-test.ts'
import { type TestCase, testFileSchema } from './test-file.ts'

const rules = [
  {
    name: 'slots',
    severity: 'high',
    condition: { signal: 'failure_count', window: '5m', threshold: 3 },
    ...{ for: '2m', keep_firing_for: '2m', notify: ['pager'], reopen_within: '5m' },
  },
  {
    name: 'events',
    severity: 'low',
    event: { match: { source: 'finding' }, count: 2, within: '5m' },
    ...{ keep_firing_for: '3m', notify: ['chat'], escalation: [{ after: '2m', notify: ['boss'] }] },
  },
].map((rule) => ruleBody.parse(rule))

function timelineOf(one: Partial<Record<keyof TestCase, unknown>>): string[] {
  const expectation = { at: '40m', rule: 'slots', state: 'none' }
  const file = testFileSchema.parse({
    rule_files: ['rules.yaml'],
    tests: [{ name: 'one', expect: [expectation], ...one }],
  })
  const sink = new FaultSink([])
  const [first] = file.tests
  if (first === undefined) throw new Error('no test')
  const compiled = compileTest(first, rules, sink)
  expect(sink.faults).toEqual([])
  return [...runTest(compiled, '1m').timeline]
}

const minute = fc.integer({ min: 0, max: 39 })

/** Values, records, moves, gaps and mutes of 40 minutes. */
const histories = fc.record({
  input_series: fc
    .tuple(
      fc.array(fc.constantFrom('0', '9', '_'), { minLength: 40, maxLength: 40 }),
      fc.array(fc.constantFrom('0', '0', '0', '120000'), { minLength: 40, maxLength: 40 }),
    )
    .map(([failures, lags]) => [
      { series: 'failure_count', values: failures.join(' ') },
      { series: 'ingest_lag', values: lags.join(' ') },
    ]),
  events: fc.array(
    minute.map((at) => ({ at: `${at}m` })),
    { maxLength: 10 },
  ),
  late: fc.array(
    fc.tuple(minute, minute).map(([at, from]) => {
      return { at: `${at}m`, from: `${from}m`, series: 'failure_count', values: '9x3' }
    }),
    { maxLength: 3 },
  ),
  gap: fc.array(
    minute.map((from) => ({ from: `${from}m`, to: `${from + 5}m` })),
    { maxLength: 1 },
  ),
  suppressions: fc.array(
    minute.map((from) => ({
      matchers: [{ field: 'severity', op: 'gte', value: 'low' }],
      windows: [{ from: `${from}m`, to: `${from + 5}m` }],
    })),
    { maxLength: 2 },
  ),
  delete_rules: fc.array(
    minute.map((at) => ({ at: `${at}m`, rule: 'events' })),
    { maxLength: 1 },
  ),
})

test('a restart at any time changes nothing', () => {
  fc.assert(
    fc.property(histories, fc.array(minute, { minLength: 1, maxLength: 20 }), (history, at) => {
      const restart = at.map((one) => `${one}m`)
      const restarted = timelineOf({ ...history, restart })
      const lines = restarted.filter((line) => !line.endsWith(' restart'))
      expect(restarted.length - lines.length).toBe(restart.length)
      expect(lines).toEqual(timelineOf(history))
    }),
    { numRuns: fuzzRuns(100) },
  )
})

test('a muted incident sends nothing but the resolve of what was announced', () => {
  fc.assert(
    fc.property(histories, (history) => {
      const always = { matchers: [{ field: 'rule', op: 'glob', value: '*' }], expires_at: '41m' }
      const lines = timelineOf({ ...history, suppressions: [always] })
      expect(lines.filter((line) => line.includes('message'))).toEqual([])
    }),
    { numRuns: fuzzRuns(50) },
  )
})

test('openings and ends of a condition are those of its true and false runs', () => {
  const values = fc.array(fc.constantFrom(0, 9), { minLength: 30, maxLength: 30 })
  fc.assert(
    fc.property(values, (given) => {
      const lines = timelineOf({
        input_series: [{ series: 'failure_count', values: given.join(' ') }],
      })
      // Without `for` and `keep_firing_for` of two minutes: the first of three true slots in a row.
      const isThird = (at: number) => given.slice(at - 2, at + 1).every((value) => value === 9)
      const first = given.findIndex((_, at) => at >= 2 && isThird(at))
      const opened = lines.find((line) => line.includes('#1 opened'))
      expect(opened?.split(' ')[0]).toBe(first < 0 ? undefined : `${first + 1}m`)
    }),
    { numRuns: fuzzRuns(100) },
  )
})
