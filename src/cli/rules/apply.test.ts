import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fuzzRuns } from '../../../test/support/suite/budget.ts'
import { type Rule, ruleShape } from '../../capabilities/incidents/rules/rule.ts'
import { type KnownRule, type PlannedStep, planRules } from './apply.ts'

const ruleOf = (name: string, threshold: number | string = 5): Rule =>
  ruleShape.parse({
    ...{ name, severity: 'high' },
    condition: { signal: 'cost', window: '10m', threshold },
  })

const knownOf = (rule: Rule, more: Partial<KnownRule> = {}): KnownRule => ({
  ...JSON.parse(JSON.stringify(rule)),
  ...{
    rule_id: `id-${rule.name}`,
    version: 1,
    managed_by: null,
    evaluation: { open_incidents: 0 },
  },
  ...more,
})

const owner = { namespace: 'team-a', name: 'slow' }
const actionsOf = (steps: readonly PlannedStep[]) =>
  steps.map(({ action, name }) => `${action} ${name}`)

describe('a plan', () => {
  test('creates, changes, and leaves equal rules alone, also with other forms of numbers', () => {
    const known = [knownOf(ruleOf('same', '5')), knownOf(ruleOf('other', 6))]
    const steps = planRules([ruleOf('new'), ruleOf('same', 5), ruleOf('other', 7)], known, {
      prune: false,
    })
    expect(actionsOf(steps)).toEqual(['create new', 'none same', 'change other'])
    expect(steps[2]).toMatchObject({
      differences: [{ field: 'condition', before: { threshold: 6 }, after: { threshold: 7 } }],
    })
  })

  test('deletes with `prune` only, first, and never what a resource declares', () => {
    const known = [
      knownOf(ruleOf('gone')),
      knownOf(ruleOf('kept'), { managed_by: owner }),
      knownOf(ruleOf('slow', 1), { managed_by: owner }),
      knownOf(ruleOf('equal'), { managed_by: owner }),
    ]
    const wanted = [ruleOf('slow', 2), ruleOf('equal')]
    expect(actionsOf(planRules(wanted, known, { prune: true }))).toEqual([
      'delete gone',
      'refuse slow',
      'none equal',
    ])
    expect(actionsOf(planRules(wanted, known, { prune: false }))).toEqual([
      'refuse slow',
      'none equal',
    ])
  })
})

const some = fc.uniqueArray(
  fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd', 'e'), threshold: fc.nat(3) }),
  { selector: ({ name }) => name },
)

test('after its steps a project has the rules of the files, and the next plan does nothing', () => {
  fc.assert(
    fc.property(some, some, fc.boolean(), (files, stored, prune) => {
      const wanted = files.map(({ name, threshold }) => ruleOf(name, threshold))
      const known = stored.map(({ name, threshold }) => knownOf(ruleOf(name, threshold)))
      const project = new Map(known.map((one) => [one.name, one]))
      for (const step of planRules(wanted, known, { prune })) {
        if (step.action === 'delete') project.delete(step.name)
        if (step.action === 'create' || step.action === 'change') {
          project.set(step.name, knownOf(step.rule))
        }
      }
      const again = planRules(wanted, [...project.values()], { prune })
      expect(again.every(({ action }) => action === 'none')).toBe(true)
      const others = stored.filter(({ name }) => !files.some((one) => one.name === name))
      const left = [...project.keys()].filter((name) => !files.some((one) => one.name === name))
      expect(left.toSorted()).toEqual(prune ? [] : others.map(({ name }) => name).toSorted())
    }),
    { numRuns: fuzzRuns(300) },
  )
})
