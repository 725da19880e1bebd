import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BoundedCache } from './bounded-cache.ts'

test('drops the entry that was set longest ago', () => {
  const cache = new BoundedCache<string, number>(2)
  cache.set('a', 1)
  cache.set('b', 2)
  cache.set('c', 3)
  expect([...cache.keys()]).toEqual(['b', 'c'])
  expect(cache.get('a')).toBeUndefined()
  expect(cache.has('a')).toBe(false)
})

test('setting an entry again renews it, reading it does not', () => {
  const cache = new BoundedCache<string, number>(2)
  cache.set('a', 1)
  cache.set('b', 2)
  cache.set('a', 3)
  expect(cache.get('b')).toBe(2)
  cache.set('c', 4)
  expect([...cache.keys()]).toEqual(['a', 'c'])
  expect(cache.get('a')).toBe(3)
})

test('keeps an entry whose value is undefined, and none when it may keep none', () => {
  const cache = new BoundedCache<string, undefined>(1)
  cache.set('a', undefined)
  expect(cache.has('a')).toBe(true)
  const none = new BoundedCache<string, number>(0)
  none.set('a', 1)
  expect(none.size).toBe(0)
})

type Step = ['set' | 'delete' | 'clear', string]

const names = fc.constantFrom('a', 'b', 'c', 'd', 'e')
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.tuple(fc.constantFrom('set', 'set', 'set', 'delete', 'clear'), names),
)

function apply(cache: BoundedCache<string, number>, [step, name]: Step, value: number): void {
  if (step === 'clear') cache.clear()
  else if (step === 'delete') cache.delete(name)
  else cache.set(name, value)
}

/** The same rules on a list whose head is the oldest entry. */
function naive(list: [string, number][], [step, name]: Step, value: number): [string, number][] {
  if (step === 'clear') return []
  const others = list.filter(([other]) => other !== name)
  return step === 'delete' ? others : [...others, [name, value]]
}

test('equals a list of entries that loses its head, and never exceeds the limit', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 4 }), steps, (entries_max, plan) => {
      const cache = new BoundedCache<string, number>(entries_max)
      let list: [string, number][] = []
      for (const [at, step] of plan.entries()) {
        apply(cache, step, at)
        list = naive(list, step, at).slice(-entries_max)
        expect([...cache.keys()].map((kept) => [kept, cache.get(kept)])).toEqual(list)
        expect(cache.size).toBe(list.length)
      }
    }),
  )
})
