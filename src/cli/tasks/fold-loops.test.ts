import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { foldLoops } from './fold-loops.ts'
import type { EntryReply, FindingReply } from './task-replies.ts'
import { joinEntries } from './task-steps.ts'

const place = (i: number) => ({ trace_id: 't', observation_id: `o${i}` })

const call = (i: number, change: object = {}): EntryReply => ({
  ...{ role: 'model_call', ...place(i), time: '2026-11-29T08:00:00Z', type: 'generation' },
  ...{ status: 'ok', error: null, model: 'm', finish_reason: 'tool_calls', counted_with: '' },
  ...{ latency_ms: 1, tokens: { total: 1 }, cost_usd: null, ...change },
})

const asked = (i: number, id: string): EntryReply => ({
  ...{ role: 'tool_call', ...place(i), time: '2026-11-29T08:00:00Z', tool_call_id: id },
  ...{ tool_name: 'search', arguments: '{}', is_cut: false, orphan: false },
})

const answered = (i: number, id: string, of: number | null): EntryReply => ({
  ...{ role: 'tool_result', ...place(i), time: '2026-11-29T08:00:00Z', tool_call_id: id },
  ...{ tool_name: 'search', content: 'none', is_cut: false, latency_ms: 1, error: null },
  call_observation_id: of === null ? null : `o${of}`,
  call_trace_id: of === null ? null : 't',
})

const loop = (from: number, to: number, change: Partial<FindingReply> = {}): FindingReply => ({
  ...{ finding_id: 'f', kind: 'loop', type: 'repeat_call', severity: 'high', state: 'open' },
  ...{ summary: 'again', start_step: from, end_step: to, period: 1, repeats: to - from + 1 },
  places: Array.from({ length: to - from + 1 }, (_, i) => place(from + i)),
  ...{ wasted_tokens: 1, wasted_cost_usd: '0', confidence: 1, evidence: {}, ...change },
})

const calls = (count: number) => Array.from({ length: count }, (_, i) => call(i))

/** The sections with the steps of their items, counted from 0. */
function folded(entries: readonly EntryReply[], findings: readonly FindingReply[]) {
  return foldLoops(joinEntries(entries, findings), findings).map((section) => {
    const steps = section.items.map(({ step }) => step)
    if (section.kind === 'items') return steps
    return { steps, shown: section.shown.length, times: section.repeats }
  })
}

test('a loop is folded between the steps before and after it', () => {
  expect(folded(calls(7), [loop(1, 5)])).toEqual([
    [0],
    { steps: [1, 2, 3, 4, 5], shown: 1, times: 5 },
    [6],
  ])
})

test('an iteration of several steps is shown once', () => {
  const cycle = loop(0, 5, { type: 'cycle', period: 2, repeats: 3 })
  expect(folded(calls(6), [cycle])).toEqual([{ steps: [0, 1, 2, 3, 4, 5], shown: 2, times: 3 }])
})

test.each([
  ['another kind', loop(1, 3, { kind: 'failure' })],
  ['scattered steps', loop(1, 5, { places: [place(1), place(3), place(5)] })],
  ['one place of many', loop(1, 3, { places: [place(1)] })],
  ['no repeats', loop(1, 1)],
  ['no steps', loop(1, 3, { start_step: null, end_step: null })],
  ['steps that are not on the page', loop(4, 9)],
])('a finding of %s folds nothing', (_, finding) => {
  expect(folded(calls(6), [finding])).toEqual([[0, 1, 2, 3, 4, 5]])
})

test('of a loop with more steps than places, all steps are folded', () => {
  const long = loop(1, 150)
  const cut = { ...long, places: long.places.slice(0, 100) }
  expect(folded(calls(152), [cut])).toEqual([
    [0],
    expect.objectContaining({ shown: 1, times: 150 }),
    [151],
  ])
})

test('of overlapping loops the first one is folded', () => {
  expect(folded(calls(6), [loop(2, 5), loop(1, 3)])).toEqual([
    [0],
    { steps: [1, 2, 3], shown: 1, times: 3 },
    [4, 5],
  ])
})

describe('steps', () => {
  test('calls without an answer, of another type or counted elsewhere have no number', () => {
    const entries = [
      call(0),
      call(1, { status: 'error' }),
      call(2, { type: 'embedding' }),
      call(3, { counted_with: 'o4' }),
      call(4),
    ]
    expect(joinEntries(entries, []).map(({ step }) => step)).toEqual([0, null, null, 1])
  })

  test('a finding that names a step corrects the numbers from there on', () => {
    const finding = loop(5, 6, { places: [place(1), place(2)] })
    expect(joinEntries(calls(4), [finding]).map(({ step }) => step)).toEqual([0, 5, 6, 7])
  })

  test('have their tools with their results, also when two share an id', () => {
    const entries = [
      call(0),
      asked(0, 'a'),
      asked(0, 'a'),
      answered(1, 'a', 0),
      call(1),
      answered(1, 'b', null),
      asked(9, 'c'),
    ]
    const items = joinEntries(entries, [])
    expect(items.map(({ step, uses, other }) => [step, uses.length, other?.role])).toEqual([
      [0, 2, undefined],
      [1, 0, undefined],
      [null, 0, 'tool_result'],
      [null, 1, undefined],
    ])
    expect(items[0]?.uses.map(({ result }) => result?.role)).toEqual(['tool_result', undefined])
  })
})

test('each item is in one section, in order, with any findings', () => {
  const numbers = fc.integer({ min: 0, max: 14 })
  const findings = fc.array(
    fc.record({
      ...{
        from: numbers,
        length: fc.integer({ min: 1, max: 8 }),
        period: fc.integer({ min: 0, max: 4 }),
      },
      ...{ repeats: fc.integer({ min: 0, max: 5 }), places: fc.array(numbers, { maxLength: 8 }) },
      ...{ isRow: fc.boolean() },
    }),
    { maxLength: 4 },
  )
  fc.assert(
    fc.property(findings, (given) => {
      const found = given.map(({ from, length, period, repeats, places, isRow }) =>
        loop(from, from + length - 1, {
          ...{ period, repeats, ...(isRow ? {} : { places: places.map(place) }) },
        }),
      )
      const items = joinEntries(calls(15), found)
      const sections = foldLoops(items, found)
      expect(sections.flatMap((section) => section.items)).toEqual(items)
      for (const section of sections) {
        if (section.kind === 'items') continue
        expect(section.shown).toEqual(section.items.slice(0, section.shown.length))
        expect(section.shown.length).toBeGreaterThan(0)
        expect(section.shown.length).toBeLessThan(section.items.length)
      }
    }),
  )
})
