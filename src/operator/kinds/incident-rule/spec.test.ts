import fc from 'fast-check'
import { expect, test } from 'vitest'
import { rules } from '../../../../test/support/incidents/rule-arbitrary.ts'
import { fuzzRuns } from '../../../../test/support/suite/budget.ts'
import { ruleFields } from '../../../capabilities/incidents/rules/rule.ts'
import { ruleBody } from '../../../capabilities/incidents/rules/rule-faults.ts'
import { canonicalRule } from '../../../capabilities/incidents/rules/written-rule.ts'
import { structuralSchemaFrom } from '../../crd/structural-schema-from.ts'
import { toSpecPath } from '../../declared/document.ts'
import { incidentRuleFields, incidentRuleSpec, toRule } from './spec.ts'

const project = { projectRef: { name: 'default' } }

const fires = {
  ...project,
  severity: 'high',
  condition: { signal: 'failure_count', window: '5m', threshold: '3' },
}

/** Writes a body of the API as a user writes the resource: camelCase, fractions as text. */
function written(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => written(item))
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([, field]) => field !== undefined)
    if (key === 'labels' || key === 'annotations') return value
    return Object.fromEntries(entries.map(([name, field]) => [camel(name), written(field, name)]))
  }
  const isDecimal = ['threshold', 'objective', 'factor', 'max_ratio', 'floor'].includes(key)
  return isDecimal || key === 'min_confidence' ? String(value) : value
}

const camel = (name: string) =>
  name.split('_').reduce((text, word) => text + word.charAt(0).toUpperCase() + word.slice(1))

test('a rule of the API is the same rule when it is declared as a resource', () => {
  fc.assert(
    fc.property(
      rules(),
      fc.record({
        group_by: fc.subarray(['model', 'task_name'] as const),
        labels: fc.constantFrom({}, { team_name: 'a', minSamples: 'b' }),
        selector: fc.constantFrom({}, { task_name: ['check*'], tag: ['x'] }),
        escalation: fc.constantFrom([], [{ after: '5m', notify: ['pager'] }]),
        suspend: fc.boolean(),
      }),
      (rule, more) => {
        const body = ruleBody.safeParse({ ...rule, ...more })
        fc.pre(body.success)
        const { name, suspend, ...fields } = written(body.data) as Record<string, unknown>
        const declared = { ...project, ...fields, suspendEvaluation: suspend }
        const spec = incidentRuleSpec.parse(declared)
        const canonical = ruleBody.parse(canonicalRule(body.data))
        expect(ruleBody.parse(toRule({ name: String(name), spec }))).toEqual(canonical)
      },
    ),
    { numRuns: fuzzRuns(300) },
  )
})

test('each field of a rule of the API has a field in the resource', () => {
  const known = new Set(Object.keys(incidentRuleFields.shape))
  const missing = Object.keys(ruleFields).filter(
    (field) => !known.has(`${toSpecPath(incidentRuleFields, [field])}`),
  )
  expect(missing).toEqual([])
})

test('without `ruleName` the rule has the name of the resource', () => {
  const named = (ruleName?: string) =>
    toRule({ name: 'of-resource', spec: incidentRuleSpec.parse({ ...fires, ruleName }) }).name
  expect([named(), named('of-spec')]).toEqual(['of-resource', 'of-spec'])
})

test('the CRD can express the spec', () => {
  const { properties } = structuralSchemaFrom(incidentRuleSpec, 'spec')
  expect(properties?.['condition']?.properties?.['threshold']?.type).toBe('string')
})

test.each([
  [{ interval: '2s' }, 'interval', 'a duration from 10s to 1h'],
  [{ groupBy: ['model', 'model'] }, 'groupBy', 'got `model` twice'],
  [{ keepFiringFor: '9d' }, 'keepFiringFor', 'a duration from 0s to 7d'],
  [
    { condition: { signal: 'error_rate', window: '5m', threshold: '1.5' } },
    'condition.threshold',
    '`error_rate > 1.5` is never true: `error_rate` is from 0 to 1',
  ],
  [
    {
      condition: undefined,
      burnRate: {
        ...{ signal: 'error_rate', objective: '0.9' },
        tiers: [{ factor: '14.4', long: '1h', short: '5m' }],
      },
    },
    'burnRate.tiers.0.factor',
    'never fires: 14.4 × (1 − 0.9) = 1.44',
  ],
])('%j is refused in the words of the API', (more, path, message) => {
  const { error } = incidentRuleSpec.safeParse({ ...fires, ...more })
  const issues = error?.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)
  expect(issues).toEqual([expect.stringContaining(message)])
  expect(issues?.[0]).toMatch(new RegExp(`^${path}: `))
})

test('a value with a wrong form is refused once', () => {
  const condition = { ...fires.condition, threshold: '3.00000000000001' }
  const { error } = incidentRuleSpec.safeParse({ ...fires, condition })
  expect(error?.issues).toHaveLength(1)
})

test('a label may be named like a field', () => {
  expect(toSpecPath(incidentRuleFields, ['labels', 'min_samples'])).toEqual([
    'labels',
    'min_samples',
  ])
  expect(toSpecPath(incidentRuleFields, ['escalation', 0, 'notify'])).toEqual([
    'escalation',
    0,
    'notify',
  ])
  expect(toSpecPath(incidentRuleFields, ['suspend'])).toEqual(['suspendEvaluation'])
})
