import { describe, expect, test } from 'vitest'
import type { Rule } from '../../../src/capabilities/incidents/rules/rule.ts'
import { durationMs } from '../../../src/kernel/duration.ts'
import { conditionExamples, lateExamples } from './condition-examples.ts'
import { type Example, readExample, slotZero_ms } from './example.ts'
import type { Answer } from './group-history.ts'
import { modelGroup } from './group-model.ts'
import { baselineExamples, burnRateExamples, eventExamples } from './kind-examples.ts'
import { parseSeries } from './series.ts'

describe('promtool notation', () => {
  test.each([
    ['-2+4x3', [-2, 2, 6, 10]],
    ['1-2x4', [1, -1, -3, -5, -7]],
    ['1x4', [1, 1, 1, 1, 1]],
    ['1 _x3 2.5 _', [1, undefined, undefined, undefined, 2.5, undefined]],
  ])('%s', (text, values) => {
    expect(parseSeries(text)).toEqual(values)
  })
  test('other words are refused', () => expect(() => parseSeries('1 stale')).toThrow('stale'))
})

describe.each([
  ['conditions', conditionExamples],
  ['late rows', lateExamples],
  ['baselines', baselineExamples],
  ['burn rates', burnRateExamples],
  ['events', eventExamples],
])('the model of %s', (_, examples) => {
  test.each(examples.map((example) => [example.sentence, example] as const))(
    '%s',
    (__, example) => {
      const { rule, acts, slots } = readExample(example)
      const answers = modelGroup(rule, acts)
      expect({
        phases: phasesOf(example, slots, answers),
        transitions: namesOf(rule, answers),
      }).toEqual({
        phases: example.phases,
        transitions: example.transitions,
      })
    },
  )
})

function phasesOf(example: Example, slots: readonly number[], answers: readonly Answer[]): string {
  return [...example.phases]
    .map((__, slot) => {
      const index = slots.lastIndexOf(slot)
      return example.gap?.includes(slot) ? '-' : (answers[index]?.state?.phase[0] ?? '-')
    })
    .join('')
}

function namesOf(rule: Rule, answers: readonly Answer[]): string[] {
  return answers.flatMap(({ transitions }) =>
    transitions.map((transition) => {
      const slot = (transition.slot_ms - slotZero_ms) / durationMs(rule.interval)
      const name = `${transition.type}@${slot}`
      if (transition.type === 'ended' || transition.type === 'forgotten') return name
      const { tier, severity } = transition
      const late = transition.type === 'fired' && transition.late ? ' late' : ''
      return tier === null ? `${name}${late}` : `${name}:${severity}:${tier}${late}`
    }),
  )
}
