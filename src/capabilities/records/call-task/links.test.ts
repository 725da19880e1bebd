import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addLinkAttributes, type LinkedCall, linksFrom, nearestGivers } from './links.ts'

const second_ns = 1_000_000_000n
const clocks_ns = 5n * second_ns
const hour_ns = 3_600n * second_ns

const call = fc.record({
  name: fc.constantFrom('response:a', 'history:b'),
  is_giver: fc.boolean(),
  at_s: fc.nat(4_000),
})

function linkedCall(at: number, given: { name: string; is_giver: boolean; at_s: number }) {
  const { at_s, ...more } = given
  return { ...more, trace_id: `t${at}`, observation_id: 'o', start_time: BigInt(at_s) * second_ns }
}

/** The naive model: the best giver by hand. */
function giverOf(one: LinkedCall, calls: readonly LinkedCall[]): LinkedCall | undefined {
  let best: LinkedCall | undefined
  const isBetter = (other: LinkedCall) => {
    if (best === undefined) return true
    const [isBefore, wasBefore] = [other, best].map((giver) => giver.start_time <= one.start_time)
    if (isBefore !== wasBefore) return isBefore === true
    const key = (giver: LinkedCall): [bigint, string] => [giver.start_time, giver.trace_id]
    const [[aTime, aId], [bTime, bId]] = [key(other), key(best)]
    const isLater = aTime === bTime ? aId > bId : aTime > bTime
    return isBefore ? isLater : !isLater
  }
  for (const other of calls) {
    if (!other.is_giver || other.name !== one.name) continue
    const age = one.start_time - other.start_time
    if (age < -clocks_ns || (one.name.startsWith('history:') && age > hour_ns)) continue
    if (isBetter(other)) best = other
  }
  return best
}

test('a call continues the giver that began last before it, in any order', () => {
  fc.assert(
    fc.property(fc.array(call, { maxLength: 12 }), fc.infiniteStream(fc.nat()), (given, places) => {
      const calls = given.map((one, at) => linkedCall(at, one))
      const shuffled = calls
        .map((one) => [places.next().value, one] as const)
        .toSorted(([a], [b]) => a - b)
        .map(([, one]) => one)
      const found = nearestGivers(shuffled)
      for (const one of calls) {
        expect(found.get(one)).toBe(one.is_giver ? undefined : giverOf(one, calls))
      }
    }),
  )
})

test('a call does not continue itself', () => {
  const one = linkedCall(0, { name: 'response:a', is_giver: true, at_s: 0 })
  expect(nearestGivers([one, { ...one, is_giver: false }]).size).toBe(0)
})

test('names are written into attributes and read again', () => {
  const links = { gives: ['response:a', 'prompt:b'], wants: 'response:c' }
  const attributes: Record<string, string> = {}
  addLinkAttributes(attributes, links)
  expect(linksFrom(attributes)).toEqual(links)
})
