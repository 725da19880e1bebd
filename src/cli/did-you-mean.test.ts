import fc from 'fast-check'
import { expect, test } from 'vitest'
import { didYouMean, editDistance, nearestWord } from './did-you-mean.ts'

const commands = ['tasks', 'task', 'trace', 'tail', 'query', 'incidents', 'lint', 'completion']

test.each([
  ['taks', 'tasks'],
  ['tsk', 'task'],
  ['tial', 'tail'],
  ['incident', 'incidents'],
  ['comp', 'completion'],
  ['LINT', 'lint'],
  ['qurey', 'query'],
  ['frobnicate', undefined],
  ['x', undefined],
  ['', undefined],
  ['a'.repeat(10_000), undefined],
])('%j is meant as %j', (word, nearest) => {
  expect(nearestWord(word, commands)).toBe(nearest)
})

test('the sentence follows a message', () => {
  expect(didYouMean('lnt', commands)).toBe('. Did you mean "lint"?')
  expect(didYouMean('frobnicate', commands)).toBe('')
})

/** The same distance by its definition. */
function distanceByDefinition(a: string, b: string): number {
  if (a === '' || b === '') return a.length + b.length
  const rest = distanceByDefinition(a.slice(1), b.slice(1)) + (a[0] === b[0] ? 0 : 1)
  const removed = distanceByDefinition(a.slice(1), b) + 1
  const added = distanceByDefinition(a, b.slice(1)) + 1
  const isSwap = a.length > 1 && b.length > 1 && a[0] === b[1] && a[1] === b[0]
  const swapped = isSwap ? distanceByDefinition(a.slice(2), b.slice(2)) + 1 : rest
  return Math.min(rest, removed, added, swapped)
}

test('the distance is that of the definition', () => {
  const words = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 5 })
  fc.assert(
    fc.property(words, words, (a, b) => {
      expect(editDistance(a, b)).toBe(distanceByDefinition(a, b))
    }),
  )
})
