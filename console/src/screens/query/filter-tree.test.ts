import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compactBody, type Filter, formatBody, readBody, toRange, toWindow } from './body.ts'
import {
  addTo,
  type FilterPath,
  fillPlaceholders,
  groupOf,
  isCondition,
  negate,
  placeholdersIn,
  replaceAt,
} from './filter-tree.ts'

const { filter } = fc.letrec<{ filter: Filter }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.record({ field: fc.string(), op: fc.constant('eq' as const), value: fc.jsonValue() }),
    fc.record({ and: fc.array(tie('filter'), { minLength: 1, maxLength: 4 }) }),
    fc.record({ or: fc.array(tie('filter'), { minLength: 1, maxLength: 4 }) }),
    fc.record({ not: tie('filter') }),
  ) as fc.Arbitrary<Filter>,
}))

/** Lists all parts of a filter with their paths. */
function partsOf(of: Filter, path: FilterPath = []): { path: FilterPath; part: Filter }[] {
  const group = groupOf(of)
  const below = group?.parts.flatMap((part, at) => partsOf(part, [...path, at])) ?? []
  const inner = 'not' in of ? partsOf(of.not, [...path, 'not']) : []
  return [{ path, part: of }, ...below, ...inner]
}

const conditionsOf = (of: Filter) => partsOf(of).filter(({ part }) => isCondition(part))

test('a part is replaced in its place, and nothing else changes', () => {
  fc.assert(
    fc.property(filter, fc.nat(), filter, (whole, at, part) => {
      const places = partsOf(whole)
      const { path, part: before } = places[at % places.length] ?? { path: [], part: whole }
      expect(replaceAt(whole, path, before)).toEqual(whole)
      const changed = replaceAt(whole, path, part)
      if (changed === undefined) throw new Error('a replaced part is not removed')
      const back = replaceAt(changed, path, before)
      expect(back).toEqual(whole)
    }),
  )
})

test('removing a condition leaves all others and no empty group', () => {
  fc.assert(
    fc.property(filter, fc.nat(), (whole, at) => {
      const conditions = conditionsOf(whole)
      const gone = conditions[at % conditions.length]
      if (gone === undefined) return
      const rest = replaceAt(whole, gone.path, undefined)
      const left = rest === undefined ? [] : conditionsOf(rest)
      const wanted = conditions.filter((each) => each !== gone).map(({ part }) => part)
      expect(left.map(({ part }) => part)).toEqual(wanted)
      const groups = (rest === undefined ? [] : partsOf(rest)).map(({ part }) => groupOf(part))
      expect(groups.every((group) => group === undefined || group.parts.length > 0)).toBe(true)
    }),
  )
})

test('a query is the same after its JSON, compact or for people', () => {
  fc.assert(
    fc.property(filter, fc.boolean(), (where, isAggregate) => {
      const measures = [{ fn: 'count' as const, as: 'n' }]
      const body = {
        entity: 'tasks' as const,
        where,
        ...(isAggregate && { measures, group_by: ['name', { time_bucket: '1h' }] }),
      }
      const plain = JSON.parse(JSON.stringify(body))
      expect(readBody(compactBody(body))).toEqual({ body: plain, window: undefined })
      const window = { last: '24h' }
      expect(readBody(formatBody(body, window))).toEqual({ body: plain, window })
    }),
  )
})

test('adding to a filter keeps what was there', () => {
  const one = { field: 'a', op: 'eq' as const, value: 1 }
  expect(addTo(undefined, one)).toEqual({ and: [one] })
  expect(addTo({ and: [one] }, one)).toEqual({ and: [one, one] })
  expect(addTo({ or: [one] }, one)).toEqual({ and: [{ or: [one] }, one] })
  expect(negate(negate(one))).toEqual(one)
})

test.each([
  ['{', /JSON|Expected/],
  ['[]', /an object/],
  ['{}', /^entity: expected one of observations/],
  ['{"entity":"spans"}', /^entity: expected one of/],
  ['{"entity":"tasks","were":{}}', /^were: a query has no such field/],
  ['{"entity":"tasks","__proto__":{}}', /no such field/],
  ['{"entity":"tasks","where":{"and":[]}}', /^where: expected/],
  ['{"entity":"tasks","where":{"and":[],"or":[]}}', /^where: expected/],
  ['{"entity":"tasks","window":{"last":"soon"}}', /^window: expected/],
  ['{"entity":"tasks","measures":[{}]}', /^measures: expected/],
])('%s is refused with what is expected', (text, fault) => {
  expect(readBody(text)).toEqual({ fault: expect.stringMatching(fault) })
})

test('the window is the range of the URL', () => {
  const resolved = { from: '2026-11-28T00:00:00Z', to: '2026-11-29T00:00:00Z' }
  expect(toWindow({ from: '-24h' }, resolved)).toEqual({ last: '24h' })
  expect(toWindow({ from: '-24h', to: resolved.to }, resolved)).toEqual(resolved)
  expect(toRange({ last: '24h' })).toEqual({ from: '-24h', to: undefined })
  expect(toRange({ last: '2w' })).toEqual({ from: '-14d', to: undefined })
  expect(toRange(resolved)).toEqual(resolved)
})

test('placeholders are found and filled', () => {
  const value = { where: { field: 'user_id', op: 'in', value: [{ $param: 'a' }, { $param: 'b' }] } }
  expect(placeholdersIn(value)).toEqual(['a', 'b'])
  expect(placeholdersIn([value, value])).toEqual(['a', 'b'])
  expect(fillPlaceholders(value, { a: 'u-1' }).where.value).toEqual(['u-1', { $param: 'b' }])
})
