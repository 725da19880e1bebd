import { expect, test } from 'vitest'
import { budgetsOf, exportedNames, nextBudget } from '../scripts/rooms-page.ts'

const room = (lines: number) => ({ name: 'src/kernel', lines, door: [], folders: [] })

test('a room begins with a rounded budget, which follows its lines down and never up', () => {
  expect(nextBudget(room(401), undefined)).toBe(500)
  expect(nextBudget(room(350), 500)).toBe(400)
  expect(nextBudget(room(500), 500)).toBe(500)
  expect(() => nextBudget(room(501), 500)).toThrow('src/kernel has 501 lines and may have 500')
})

test('budgets are read from the page that has them', () => {
  const page = '| room | lines | at most |\n| `src/kernel` | 12 | 100 | 3 |\n| all | 12 | | |\n'
  expect([...budgetsOf(page)]).toEqual([['src/kernel', 100]])
})

test('a door shows functions, constants, classes and types, its own and those of other files', () => {
  const text = `
    export { a, type B } from './x.ts'
    export type { C as D } from './y.ts'
    export const e = 1, f = 2
    export function g() {}
    export class H {}
    export type I = string
    export interface J {}
    const hidden = 1
  `
  const names = ['a', 'type B', 'type D', 'e', 'f', 'g', 'H', 'type I', 'type J']
  expect(exportedNames(text)).toEqual(names)
})
