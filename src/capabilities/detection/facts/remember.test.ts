import { expect, test } from 'vitest'
import { rememberFor } from './remember.ts'

test('a value is computed again when what it depends on has changed', () => {
  const remembered = rememberFor<object, number>()
  const [key, other, message] = [{}, {}, {}]
  let made = 0
  const make = () => {
    made += 1
    return made
  }
  expect(remembered(key, [message, 1], make)).toBe(1)
  expect(remembered(key, [message, 1], make)).toBe(1)
  expect(remembered(other, [message, 1], make)).toBe(2)
  expect(remembered(key, [message, 2], make)).toBe(3)
  expect(remembered(key, [{}, 2], make)).toBe(4)
})
