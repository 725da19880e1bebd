import { expect, test } from 'vitest'
import type { ToolCall } from '../../../../model/observation.ts'
import { PartialArguments } from './partial-arguments.ts'

/** Returns the arguments of a call whose pieces came in this order. */
function argumentsOf(pieces: readonly object[]): unknown {
  const calls: ToolCall[] = []
  const open = new PartialArguments()
  open.take({ name: 'save', willContinue: true }, calls)
  for (const piece of pieces) open.take({ partialArgs: [piece], willContinue: true }, calls)
  open.finish()
  expect(calls).toHaveLength(1)
  return JSON.parse(calls[0]?.arguments ?? '')
}

test('pieces make objects, lists and joined text', () => {
  expect(
    argumentsOf([
      { jsonPath: '$.steps[0].text', stringValue: 'Wh' },
      { jsonPath: '$.steps[0].text', stringValue: 'isk' },
      { jsonPath: '$.steps[1].minutes', numberValue: 3 },
      { jsonPath: '$.done', boolValue: false },
      { jsonPath: '$.note', nullValue: 'NULL_VALUE' },
    ]),
  ).toEqual({ steps: [{ text: 'Whisk' }, { minutes: 3 }], done: false, note: null })
})

test('no path makes a list longer than its pieces', () => {
  const deep = `$.a${'[9999]'.repeat(31)}`
  expect(
    argumentsOf([
      { jsonPath: '$.list[0]', stringValue: 'first' },
      { jsonPath: '$.list.length', numberValue: 4_000_000_000 },
      { jsonPath: '$.list[9999]', stringValue: 'far' },
      { jsonPath: deep, stringValue: 'deep' },
    ]),
  ).toEqual({ list: ['first'], a: [] })
})

test('no path reaches a prototype', () => {
  argumentsOf([
    { jsonPath: '$.__proto__.seen', stringValue: 'yes' },
    { jsonPath: '$.constructor.prototype.seen', stringValue: 'yes' },
    { jsonPath: "$['__proto__'].seen", stringValue: 'yes' },
    { jsonPath: '$.toString.seen', stringValue: 'yes' },
  ])
  expect('seen' in {}).toBe(false)
  expect('seen' in Object.prototype.toString).toBe(false)
})
