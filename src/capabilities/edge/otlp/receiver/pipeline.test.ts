import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { OtlpGroup, OtlpRequest } from '../contract.ts'
import { splitIntoSlices } from './pipeline.ts'

type Item = { trace_id: string; place: number }

const attributes = { keys: [], values: [] }
const resource = { attributes, dropped_attributes_count: 0, schema_url: '' }
const scope = { name: '', version: '', attributes, schema_url: '' }

function requestOf(groupsOfTraces: string[][]): OtlpRequest<Item> {
  let place = 0
  const groups = groupsOfTraces.map((traces): OtlpGroup<Item> => {
    const items = traces.map((trace_id) => {
      place += 1
      return { trace_id, place }
    })
    return { resource: { ...resource }, scope, items }
  })
  const counts = { rejected: new Map(), first_rejection: '', warnings: new Map() }
  return { groups, items: place, ...counts }
}

const trace = fc.constantFrom('', 'a', 'b', 'c', 'd', 'e')
const request = fc.array(fc.array(trace, { maxLength: 10 }), { maxLength: 6 }).map(requestOf)

test('every item is in one slice, with its resource, and traces are whole and in order', () => {
  fc.assert(
    fc.property(request, fc.integer({ min: 1, max: 8 }), (whole, items_max) => {
      const slices = splitIntoSlices(whole, items_max)
      const found = new Map<number, OtlpGroup<Item>>()
      const sliceOfTrace = new Map<string, number>()
      slices.forEach(({ groups, items }, at) => {
        const places = groups.flatMap((group) => group.items.map(({ place }) => place))
        expect(places).toHaveLength(items)
        expect(places).toEqual(places.toSorted((a, b) => a - b))
        for (const group of groups) {
          expect(group.items.length).toBeGreaterThan(0)
          for (const { place, trace_id } of group.items) {
            expect(found.has(place)).toBe(false)
            found.set(place, group)
            if (trace_id === '') continue
            expect(sliceOfTrace.get(trace_id) ?? at).toBe(at)
            sliceOfTrace.set(trace_id, at)
          }
        }
      })
      expect(found.size).toBe(whole.items)
      for (const { resource: ofWhole, items } of whole.groups) {
        for (const { place } of items) expect(found.get(place)?.resource).toBe(ofWhole)
      }
    }),
  )
})

test('a slice takes no new trace once it is full', () => {
  const slices = splitIntoSlices(requestOf([['a', 'a', 'a', 'b', 'c', '', '', 'b']]), 2)
  expect(slices.map(({ items }) => items)).toEqual([3, 3, 2])
})
