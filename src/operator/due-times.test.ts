import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createDueTimes } from './due-times.ts'

test('a key is there once, with the time that was said last', () => {
  const times = createDueTimes()
  times.put('a', 10)
  times.put('b', 5)
  times.put('a', 3)
  expect([times.size(), times.next_ms()]).toEqual([2, 3])
  times.put('a', 20)
  expect(times.takeDue(9)).toEqual(['b'])
  times.remove('a')
  expect([times.size(), times.next_ms()]).toEqual([0, undefined])
})

const step = fc.record({
  key: fc.constantFrom('a', 'b', 'c', 'd'),
  at: fc.nat(20),
  put: fc.boolean(),
})

test('what is due comes out once, earliest first, as a plain map would have it', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.nat(20), (steps, now) => {
      const times = createDueTimes()
      const plain = new Map<string, number>()
      for (const { key, at, put } of steps) {
        if (put) {
          times.put(key, at)
          plain.set(key, at)
        } else {
          times.remove(key)
          plain.delete(key)
        }
      }
      expect(times.next_ms()).toBe(plain.size === 0 ? undefined : Math.min(...plain.values()))
      const due = [...plain].filter(([, at]) => at <= now)
      due.sort(([a, x], [b, y]) => x - y || (a < b ? -1 : 1))
      expect(times.takeDue(now)).toEqual(due.map(([key]) => key))
      expect(times.size()).toBe(plain.size - due.length)
    }),
  )
})
