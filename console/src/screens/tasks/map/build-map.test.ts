import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Turn, TurnThread } from '../../../api/schema.gen.d.ts'
import { box, buildMap, placeNodes } from './build-map.ts'

type Given = { thread: number; model: string; tools: string[]; repeat: boolean }

function turnOf({ thread, model, tools, repeat }: Given): Turn {
  const tool_uses = tools.map((name) => ({ name, error: name === 'c' ? 'error' : null }))
  const iteration = repeat ? { number: 2 } : null
  return {
    thread,
    model,
    tool_uses,
    iteration,
    cost_usd: '0.5',
    status: 'ok',
    error: null,
  } as never
}

const threads = [
  { thread: 0, kind: 'root', parent: null, agent_name: 'planner' },
  { thread: 1, kind: 'sub_agent', parent: 0, agent_name: 'reader' },
  { thread: 2, kind: 'sub_agent', parent: 0, agent_name: 'reader' },
] as never as TurnThread[]

const given = fc.record({
  thread: fc.nat(2),
  model: fc.constantFrom('m', 'n'),
  tools: fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 3 }),
  repeat: fc.boolean(),
})

describe('the map of a task', () => {
  test('counts calls, uses, failures, cost, and repeats', () => {
    const turns = [
      turnOf({ thread: 0, model: 'm', tools: ['a'], repeat: false }),
      turnOf({ thread: 1, model: 'n', tools: ['c'], repeat: false }),
      turnOf({ thread: 2, model: 'n', tools: ['c'], repeat: true }),
    ]
    const { nodes, edges } = buildMap(turns, threads)
    expect(nodes.find(({ id }) => id === 'agent reader')).toMatchObject({ count: 2, cost_usd: 1 })
    expect(edges.find(({ to }) => to === 'tool c')).toMatchObject({
      count: 2,
      failed: 2,
      repeats: 1,
    })
    expect(edges.find(({ to }) => to === 'agent reader')).toMatchObject({
      ...{ from: 'agent planner', count: 2 },
    })
  })

  test('every call is on one edge to a model, and every use on one to a tool', () => {
    fc.assert(
      fc.property(fc.array(given, { maxLength: 12 }), (all) => {
        const { edges } = buildMap(all.map(turnOf), threads)
        const countOf = (kind: string) =>
          edges
            .filter(({ to }) => to.startsWith(`${kind} `))
            .reduce((total, { count }) => total + count, 0)
        expect(countOf('model')).toBe(all.length)
        expect(countOf('tool')).toBe(all.flatMap(({ tools }) => tools).length)
      }),
    )
  })

  test('no two nodes overlap, and all of them are inside of the drawing', () => {
    fc.assert(
      fc.property(fc.array(given, { minLength: 1, maxLength: 12 }), (all) => {
        const { nodes, edges } = buildMap(all.map(turnOf), threads)
        const { placed, width, height } = placeNodes(nodes, edges)
        expect(placed).toHaveLength(nodes.length)
        expect(new Set(placed.map(({ x, y }) => `${x} ${y}`)).size).toBe(nodes.length)
        for (const { x, y } of placed) {
          expect(x + box.width <= width && y + box.height <= height).toBe(true)
        }
      }),
    )
  })

  test('agents that began each other have a place too', () => {
    const circle = [
      { thread: 0, kind: 'sub_agent', parent: 1, agent_name: 'x' },
      { thread: 1, kind: 'sub_agent', parent: 0, agent_name: 'y' },
    ] as never as TurnThread[]
    const turns = [0, 1].map((thread) => turnOf({ thread, model: 'm', tools: [], repeat: false }))
    const { nodes, edges } = buildMap(turns, circle)
    expect(placeNodes(nodes, edges).placed).toHaveLength(3)
  })
})
