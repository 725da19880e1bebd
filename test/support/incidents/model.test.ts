import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ruleShape } from '../../../src/capabilities/incidents/rules/rule.ts'
import { fuzzRuns } from '../suite/budget.ts'
import { dueSlots } from './due-slots.ts'
import { describeAnswers, readExample } from './example.ts'
import type { Answer } from './group-history.ts'
import { modelGroup } from './group-model.ts'
import { placesAfter } from './group-places.ts'
import { groupHistories } from './history-arbitrary.ts'
import { modelIncidents } from './incident-model.ts'
import { keyHistories } from './key-arbitrary.ts'
import { nameMark, nameMessage, readKeyExample, statusOf } from './key-example.ts'
import { lifeCycleExamples, messageExamples } from './key-examples.ts'
import { groupExamples } from './kind-examples.ts'
import { modelMessages } from './message-model.ts'
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

describe.each(groupExamples)('the model of %s', (_, examples) => {
  test.each(examples.map((example) => [example.sentence, example] as const))(
    '%s',
    (__, example) => {
      const history = readExample(example)
      const answers = modelGroup(history.rule, history.acts)
      const { phases, transitions } = example
      expect(describeAnswers(example, history, answers)).toEqual({ phases, transitions })
    },
  )
})

describe('the model of incidents', () => {
  const examples = [...lifeCycleExamples, ...messageExamples]
  test.each(examples.map((example) => [example.sentence, example] as const))('%s', (_, example) => {
    const history = readKeyExample(example)
    const { marks, answers } = modelIncidents(history)
    const found = {
      marks: example.marks && marks.map(nameMark),
      messages: example.messages && modelMessages(history).map(nameMessage),
      answers: example.answers && answers.map(statusOf),
    }
    const { marks: changes, messages, answers: statuses } = example
    expect(found).toEqual({ marks: changes, messages, answers: statuses })
  })
})

describe('generated histories', () => {
  test('transitions of a group alternate, and agree with its state', () => {
    const types = new Set<string>()
    fc.assert(
      fc.property(groupHistories(), ({ rule, acts }) => {
        let isFiring = false
        for (const [index, answer] of modelGroup(rule, acts).entries()) {
          for (const { type } of answer.transitions) types.add(type)
          isFiring = acts[index]?.type === 'resolve' ? false : isFiringAfter(isFiring, answer)
          expect(answer.state?.phase === 'firing').toBe(isFiring)
        }
      }),
      { numRuns: fuzzRuns(200), seed: 1 },
    )
    expect([...types].sort()).toEqual(['ended', 'fired', 'forgotten', 'raised'])
  })

  test('a resolve follows every opening, and its message comes at the same time', () => {
    const types = new Set<string>()
    fc.assert(
      fc.property(keyHistories, (history) => {
        const { marks } = modelIncidents(history)
        const changes = marks.filter(({ type }) => openingOrEnd.has(type))
        const isResolve = changes.map(({ type }) => type === 'resolved')
        expect(isResolve).toEqual(changes.map((_, index) => index % 2 === 1))
        const resolved = changes.filter(({ type }) => type === 'resolved').map(({ at }) => at)
        for (const { type, at } of modelMessages(history)) {
          types.add(type)
          expect(type !== 'resolved' || resolved.includes(at)).toBe(true)
        }
      }),
      { numRuns: fuzzRuns(100), seed: 1 },
    )
    expect(types.size).toBe(8)
  })
})

const openingOrEnd: ReadonlySet<string> = new Set(['opened', 'reopened', 'resolved'])

function isFiringAfter(wasFiring: boolean, { transitions }: Answer): boolean {
  let isFiring = wasFiring
  for (const { type } of transitions) {
    expect(isFiring).toBe(type === 'raised' || type === 'ended')
    if (type !== 'raised') isFiring = type === 'fired'
  }
  return isFiring
}

const minute = 60_000

describe('slots that are due', () => {
  const rule = ruleShape.parse({
    ...{ name: 'rule', severity: 'high', for: '0s' },
    condition: { signal: 'cost', window: '10m', threshold: 5 },
  })
  test.each([
    ['nothing before the delay', 2 * minute - 1, [], 0],
    ['one slot after the delay', 2 * minute, [1], 0],
    ['missed slots, oldest first', 4 * minute, [1, 2, 3], 0],
    ['15 minutes of missed slots and the newest; gaps between', 20 * minute, [...range(15), 19], 3],
  ])('%s', (_, now_ms, evaluated, gaps) => {
    const due = dueSlots(rule, { now_ms, slot_ms: 0 })
    const found = due.filter(({ is_gap }) => !is_gap).map(({ end_ms }) => end_ms / minute)
    expect(found).toEqual(evaluated)
    expect(due.filter(({ is_gap }) => is_gap)).toHaveLength(gaps)
  })
  test('a partial slot is evaluated until it is 15 minutes old', () => {
    const attempts = [16, 17].map((end) => dueSlots(rule, { now_ms: end * minute, slot_ms: 0 })[0])
    expect(attempts.map((slot) => slot?.is_last_attempt)).toEqual([false, true])
  })
})

function range(last: number): number[] {
  return Array.from({ length: last }, (_, index) => index + 1)
}

describe('places of groups', () => {
  const bounds = { groups_max: 2, forget_after_ms: 3 }
  const at = (at_ms: number, groups: string[], open: string[] = []) => ({ at_ms, groups, open })
  test('first come, the rest is counted', () => {
    const places = placesAfter([at(0, ['a']), at(1, ['b', 'c']), at(2, ['c', 'd'])], bounds)
    expect(places).toEqual({ live: ['a', 'b'], overflow: 2 })
  })
  test('a forgotten group frees its place', () => {
    const places = placesAfter([at(0, ['a', 'b']), at(1, ['b']), at(3, ['c'])], bounds)
    expect(places).toEqual({ live: ['b', 'c'], overflow: 0 })
  })
  test('a group with an open incident keeps its place', () => {
    const places = placesAfter([at(0, ['a', 'b']), at(1, ['b']), at(3, ['c'], ['a'])], bounds)
    expect(places).toEqual({ live: ['a', 'b'], overflow: 1 })
  })
})
