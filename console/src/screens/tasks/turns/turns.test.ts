import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Turn, TurnClaim, TurnThread } from '../../../api/schema.gen.d.ts'
import { splitClaims } from './claim-parts.ts'
import { earlierThan, groupTurns, type TurnItem, turnsIn } from './group-turns.ts'
import { diffLines, diffParts, diffWords, spreadJson } from './line-diff.ts'
import { findTarget, jumpTo, pointAt } from './use-target.ts'

type Given = { thread?: number; loop?: [id: string, number: number, of: number]; failed?: true }

function turnOf(turn: number, { thread = 0, loop, failed }: Given = {}): Turn {
  const [finding_id, number, of] = loop ?? []
  const iteration = finding_id === undefined ? null : { finding_id, number, of, position: 1 }
  const step = failed === true ? null : turn
  return { turn, step, thread, iteration, messages: [], tool_uses: [], answer: null } as never
}

function threadOf(thread: number, given: Partial<TurnThread> = {}): TurnThread {
  const kind = thread === 0 ? 'root' : 'sub_agent'
  const parent = thread === 0 ? null : 0
  return { thread, kind, parent, parent_turn: null, first_turn: null, ...given } as never
}

function outline(items: readonly TurnItem[]): unknown[] {
  return items.map((item) => {
    if (item.kind === 'turn') return item.turn.turn
    if (item.kind === 'thread') return { [`thread ${item.thread.thread}`]: outline(item.items) }
    return { [`×${item.loop.of}`]: item.loop.iterations.map((each) => outline(each.items)) }
  })
}

describe('the URL of a turn', () => {
  const turns = [turnOf(0), turnOf(1, { failed: true }), turnOf(2)]

  test('has the number of the step that the page shows, so that the first is 1', () => {
    expect(pointAt({ step: 0 })).toEqual({ step: '1', turn: undefined, finding: undefined })
    expect(findTarget(turns, { step: '1' })).toBe(turns[0])
    expect(findTarget(turns, { step: '0' })).toBeUndefined()
    expect(findTarget(turns, { step: 'null' })).toBeUndefined()
  })

  test('of a call without a step has the number of the call', () => {
    expect(pointAt({ turn: 1 })).toEqual({ step: undefined, turn: '2', finding: undefined })
    expect(findTarget(turns, { turn: '2' })).toBe(turns[1])
  })

  test('leads back to the turn that it was made for', () => {
    for (const turn of turns) {
      expect(findTarget(turns, pointAt({ turn: turn.turn }))).toBe(turn)
      if (turn.step !== null) expect(findTarget(turns, jumpTo({ step: turn.step }))).toBe(turn)
    }
  })
})

describe('the arrangement of turns', () => {
  test('a sub-agent follows the turn that began it', () => {
    const turns = [turnOf(0), turnOf(1, { thread: 1 }), turnOf(2), turnOf(3, { thread: 1 })]
    const threads = [threadOf(0), threadOf(1, { parent_turn: 0 })]
    expect(outline(groupTurns(turns, threads))).toEqual([0, { 'thread 1': [1, 3] }, 2])
  })

  test('iterations that follow each other are one row; a failed call does not split them', () => {
    const turns = [
      turnOf(0),
      turnOf(1, { loop: ['a', 1, 3] }),
      turnOf(2, { failed: true }),
      turnOf(3, { loop: ['a', 2, 3] }),
      turnOf(4, { loop: ['a', 3, 3] }),
      turnOf(5),
    ]
    expect(outline(groupTurns(turns, [threadOf(0)]))).toEqual([0, { '×3': [[1, 2], [3], [4]] }, 5])
  })

  test('an iteration alone is not a row of its own, and two loops are two rows', () => {
    const alone = [turnOf(0, { loop: ['a', 1, 4] }), turnOf(1)]
    expect(outline(groupTurns(alone, [threadOf(0)]))).toEqual([0, 1])
    const two = [
      turnOf(0, { loop: ['a', 1, 2] }),
      turnOf(1, { loop: ['a', 2, 2] }),
      turnOf(2, { loop: ['b', 1, 2] }),
      turnOf(3, { loop: ['b', 2, 2] }),
    ]
    expect(outline(groupTurns(two, [threadOf(0)]))).toEqual([
      { '×2': [[0], [1]] },
      { '×2': [[2], [3]] },
    ])
  })

  test('each turn is shown exactly once, for any threads', () => {
    const thread = fc.nat(4)
    const turns = fc.array(
      fc.record({ thread, loop: fc.option(fc.tuple(fc.constantFrom('a', 'b'), fc.nat(3))) }),
      { maxLength: 20 },
    )
    const parents = fc.array(fc.tuple(fc.option(thread), fc.option(fc.nat(20))), {
      ...{ minLength: 5, maxLength: 5 },
    })
    fc.assert(
      fc.property(turns, parents, (given, links) => {
        const all = given.map(({ thread: own, loop }, at) =>
          turnOf(at, { thread: own, ...(loop && { loop: [loop[0], loop[1] + 1, 4] }) }),
        )
        const threads = links.map(([parent, parent_turn], at) =>
          threadOf(at, { parent, parent_turn, first_turn: 0 }),
        )
        const shown = turnsIn(groupTurns(all, threads)).map(({ turn }) => turn)
        expect(shown.toSorted((a, b) => a - b)).toEqual(all.map(({ turn }) => turn))
      }),
    )
  })

  test('earlier messages are those of the thread, and of the parent of a branch', () => {
    const say = (turn: number, thread: number, text: string) =>
      ({ ...turnOf(turn, { thread }), messages: [{ role: 'user', text }] }) as never as Turn
    const turns = [say(0, 0, 'a'), say(1, 0, 'b'), say(2, 1, 'c'), say(3, 1, 'd')]
    const branch = threadOf(1, { kind: 'branch', parent_turn: 0 })
    const textsOf = (threads: TurnThread[]) =>
      earlierThan(turns[3] as Turn, turns, threads).map(({ text }) => text)
    expect(textsOf([threadOf(0), branch])).toEqual(['a', 'c'])
    expect(textsOf([threadOf(0), threadOf(1)])).toEqual(['c'])
  })
})

describe('a comparison', () => {
  const words = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 8 })
  const longest = (a: readonly string[], b: readonly string[]): number => {
    const [first, ...rest] = a
    if (first === undefined || b.length === 0) return 0
    const at = b.indexOf(first)
    const without = longest(rest, b)
    return at < 0 ? without : Math.max(without, 1 + longest(rest, b.slice(at + 1)))
  }

  test('rebuilds both sides, and keeps as much as possible', () => {
    fc.assert(
      fc.property(words, words, (before, after) => {
        const changes = diffParts(before, after) ?? []
        const without = (kind: string) =>
          changes.filter((each) => each.kind !== kind).map(({ text }) => text)
        expect(without('added')).toEqual(before)
        expect(without('removed')).toEqual(after)
        const same = changes.filter(({ kind }) => kind === 'same')
        expect(same).toHaveLength(longest(before, after))
      }),
    )
  })

  test('of words names the one that changed', () => {
    expect(diffWords('limit: 5,', 'limit: 6,')).toEqual([
      { kind: 'same', text: 'limit: ' },
      { kind: 'removed', text: '5' },
      { kind: 'added', text: '6' },
      { kind: 'same', text: ',' },
    ])
  })

  test('of texts that are too long is not made, unless only a few lines differ', () => {
    const many = (name: string) => Array.from({ length: 2_001 }, (_, at) => `${name} ${at}`)
    expect(diffLines(many('a').join('\n'), many('b').join('\n'))).toBeUndefined()
    const changed = [...many('a'), 'x']
    expect(diffLines(many('a').join('\n'), changed.join('\n'))).toHaveLength(2_002)
  })

  test('JSON is spread over lines, other texts are not', () => {
    expect(spreadJson('{"a":1}')).toBe('{\n  "a": 1\n}')
    expect(spreadJson('{"a":')).toBe('{"a":')
    expect(spreadJson('7')).toBe('7')
  })
})

describe('claims of an answer', () => {
  const claim = (start: number, end: number) => ({ at: [start, end] }) as never as TurnClaim

  test('the parts rebuild the text, and each lies in its claims', () => {
    const claims = fc.array(fc.tuple(fc.nat(40), fc.nat(40)), { maxLength: 5 })
    fc.assert(
      fc.property(fc.string({ maxLength: 30 }), claims, (text, given) => {
        const all = given.map(([a, b]) => claim(Math.min(a, b), Math.max(a, b)))
        const parts = splitClaims(text, all)
        expect(parts.map((part) => part.text).join('')).toBe(text)
        for (const { at, text: part, claims: own } of parts) {
          const inside = all.filter(
            ({ at: [start = 0, end = 0] }) => start <= at && at + part.length <= end,
          )
          expect(own).toEqual(inside)
        }
      }),
    )
  })

  test('a claim has the part of its offsets', () => {
    const parts = splitClaims('The total is 5 euro.', [claim(4, 14)])
    expect(parts.map(({ text, claims }) => [text, claims.length])).toEqual([
      ['The ', 0],
      ['total is 5', 1],
      [' euro.', 0],
    ])
  })
})
