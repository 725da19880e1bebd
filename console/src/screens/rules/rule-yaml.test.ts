import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { draftOf, newRule, type RuleDraft, sameJson, withKind } from './rule-draft.ts'
import { fromYaml, toYaml } from './rule-yaml.ts'

// The console is compiled without the types of Node and of the service.
const ofNode = 'node:fs'
const { readdirSync, readFileSync } = await import(ofNode)
const ofOperator = '../../../../src/operator/index.ts'
const { incidentRuleSpec, toRule } = await import(ofOperator)

const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,20}[a-z0-9]$/)
const text = fc.string({ minLength: 1, maxLength: 30 })
const label = fc.stringMatching(/^[a-z][a-zA-Z_]{0,10}$/)
const decimal = fc.integer({ min: 1, max: 10 ** 9 }).map((units) => units / 10 ** 6)

const rule: fc.Arbitrary<RuleDraft> = fc
  .tuple(
    fc.constantFrom('condition', 'burn_rate', 'baseline', 'event'),
    decimal,
    fc.record(
      {
        name,
        severity: fc.constantFrom('info', 'high', 'critical'),
        description: text,
        labels: fc.dictionary(label, text, { maxKeys: 3 }),
        annotations: fc.dictionary(label, text, { maxKeys: 3 }),
        group_by: fc.subarray(['model', 'task_name'] as const).map((some) => [...some]),
        selector: fc.record({ task_name: fc.array(text, { minLength: 1, maxLength: 2 }) }),
        keep_firing_for: fc.constantFrom('5m', '1h'),
        escalation: fc.array(fc.record({ after: fc.constant('10m'), notify: fc.tuple(name) })),
        inhibited_by: fc.array(
          fc.record({ labels: fc.dictionary(label, text), equal: fc.constant(['model' as const]) }),
          { maxLength: 2 },
        ),
        grouping: fc.constant({ wait: '0s', interval: '5m', repeat: '4h' }),
        suspend: fc.boolean(),
        auto_resolve: fc.boolean(),
      },
      { requiredKeys: ['name', 'severity'] },
    ),
  )
  .map(([kind, value, rest]) => {
    const draft = withKind({ ...newRule(), ...rest } as RuleDraft, kind as 'event')
    if (draft.baseline) draft.baseline.max_ratio = value
    return draft
  })

test('a rule survives the way to YAML and back', () => {
  fc.assert(
    fc.property(rule, (given) => {
      const read = fromYaml(toYaml(given, 'default'))
      if ('fault' in read) throw new Error(read.fault)
      expect(sameJson(draftOf(read.rule), draftOf(given))).toBe(true)
    }),
    { numRuns: 300 },
  )
})

test('the operator reads the same rule from the YAML', () => {
  for (const kind of ['condition', 'burn_rate', 'baseline', 'event'] as const) {
    const given = withKind({ ...newRule(), name: 'slow', labels: { team_name: 'a' } }, kind)
    const { metadata, spec } = parse(toYaml(given, 'default'))
    const fields = incidentRuleSpec.parse(spec)
    const declared = draftOf(toRule({ name: metadata.name, spec: fields }) as RuleDraft)
    expect(sameJson(declared, given)).toBe(true)
  }
})

test('the examples are read as the operator reads them', () => {
  const folder = new URL('../../../../examples/incident-rules/', import.meta.url)
  const names = readdirSync(folder).filter((each: string) => each.endsWith('.yaml'))
  expect(names.length).toBeGreaterThan(3)
  for (const each of names) {
    const content = readFileSync(new URL(each, folder), 'utf8')
    const read = fromYaml(content)
    if ('fault' in read) throw new Error(`${each}: ${read.fault}`)
    const { metadata, spec } = parse(content)
    const declared = toRule({ name: metadata.name, spec: incidentRuleSpec.parse(spec) })
    expect(read.rule.name).toBe(declared.name)
    expect(draftOf(declared as RuleDraft)).toMatchObject({ severity: read.rule.severity })
  }
})

test.each([
  ['a: [', 'Flow'],
  ['[]', 'not a resource'],
  ['kind: Pod', 'kind: got "Pod"'],
  ['kind: IncidentRule', 'apiVersion: got nothing'],
  ['kind: IncidentRule\napiVersion: looptrace.dev/v1alpha1', 'spec'],
  ['kind: IncidentRule\napiVersion: looptrace.dev/v1alpha1\nspec: {}', 'metadata.name'],
])('%j is refused with its fault', (content, fault) => {
  expect(fromYaml(content)).toEqual({ fault: expect.stringContaining(fault) })
})

test('a small number has no exponent in the YAML', () => {
  const given = { ...newRule(), name: 'x', condition: { ...newRule().condition, threshold: 1e-7 } }
  expect(toYaml(given as RuleDraft, 'p')).toContain('threshold: "0.0000001"')
})
