import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { describeAnswers, readExample } from '../../../../test/support/incidents/example.ts'
import {
  type Act,
  type Answer,
  comparableState,
} from '../../../../test/support/incidents/group-history.ts'
import { modelGroup } from '../../../../test/support/incidents/group-model.ts'
import { groupHistories } from '../../../../test/support/incidents/history-arbitrary.ts'
import { groupExamples } from '../../../../test/support/incidents/kind-examples.ts'
import { fuzzRuns } from '../../../../test/support/suite/budget.ts'
import { type Rule, ruleKinds } from '../rules/rule.ts'
import type { GroupState } from './contract.ts'
import { afterResolve, step } from './step.ts'

/** Histories of each kind of rule; 25,000 of each agreed when the model was written. */
const histories = fuzzRuns(500)

/** Returns the answers of `step` to a history of a group. */
function stepThrough(rule: Rule, acts: readonly Act[]): Answer[] {
  let state: GroupState | null = null
  return acts.map((act) => {
    const before: GroupState | null = state
    if (act.type === 'slot') {
      const result = step(rule, before, act.sample, act.slot)
      if (act.evaluators === 2) expect(step(rule, before, act.sample, act.slot)).toEqual(result)
      state = result.state
      return { state: comparableState(state), transitions: result.transitions }
    }
    if (act.type === 'restart') state = JSON.parse(JSON.stringify(before))
    if (act.type === 'resolve' && before !== null) state = afterResolve(rule, before, act.at_ms)
    return { state: comparableState(state), transitions: [] }
  })
}

test.each(ruleKinds)(
  'step of a %s rule answers as the model that reads the whole history',
  (kind) => {
    fc.assert(
      fc.property(groupHistories(kind), ({ rule, acts }) => {
        expect(stepThrough(rule, acts)).toEqual(modelGroup(rule, acts))
      }),
      { numRuns: histories },
    )
  },
)

describe.each(groupExamples)('step of %s', (_, examples) => {
  test.each(examples.map((example) => [example.sentence, example] as const))(
    '%s',
    (__, example) => {
      const history = readExample(example)
      const answers = stepThrough(history.rule, history.acts)
      const { phases, transitions } = example
      expect(describeAnswers(example, history, answers)).toEqual({ phases, transitions })
    },
  )
})
