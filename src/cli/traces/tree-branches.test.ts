import fc from 'fast-check'
import { expect, test } from 'vitest'
import { drawBranches } from './show-trace.ts'

test('a tree has branches to each child, and bars beside those below', () => {
  expect(drawBranches([0, 1, 2, 2, 1, 2, 0])).toEqual([
    ...['', '├─ ', '│  ├─ ', '│  └─ ', '└─ ', '   └─ ', ''],
  ])
})

test('a page below a node begins at its depth', () => {
  expect(drawBranches([3, 4, 3])).toEqual(['', '└─ ', ''])
  expect(drawBranches([])).toEqual([])
})

test('a branch ends at the last sibling, by a search for later ones', () => {
  const steps = fc.array(fc.integer({ min: -3, max: 1 }), { maxLength: 30 })
  fc.assert(
    fc.property(steps, (changes) => {
      const depths = [0]
      for (const change of changes) depths.push(Math.max(0, (depths.at(-1) ?? 0) + change))
      const hasLater = (from: number, depth: number) => {
        const next = depths.findIndex((one, i) => i > from && one <= depth)
        return next !== -1 && depths[next] === depth
      }
      const expected = depths.map((depth, i) =>
        Array.from({ length: depth }, (_, at) => at + 1)
          .map((at) => {
            const follows = hasLater(i, at)
            if (at === depth) return follows ? '├─ ' : '└─ '
            return follows ? '│  ' : '   '
          })
          .join(''),
      )
      expect(drawBranches(depths)).toEqual(expected)
    }),
  )
})
