import { expect, test } from 'vitest'
import type { StructuralSchema } from '../../operator/index.ts'
import { createStructureCheck } from './check-structure.ts'
import { pathText } from './fault.ts'

const text: StructuralSchema = { type: 'string', minLength: 1, maxLength: 100 }
const one: StructuralSchema = {
  type: 'object',
  required: ['name'],
  properties: { name: text, zone: { ...text, default: 'eu' } },
}
const schema: StructuralSchema = {
  type: 'object',
  properties: {
    days: { type: 'integer', format: 'int32', minimum: 1, maximum: 9, multipleOf: 3 },
    flag: { type: 'boolean', nullable: true },
    mode: { type: 'string', enum: ['on', 'off'] },
    code: { ...text, pattern: '^[a-z]+$' },
    project: { type: 'string', format: 'uuid', maxLength: 36 },
    labels: { type: 'object', minProperties: 1, maxProperties: 2, additionalProperties: text },
    set: { type: 'array', maxItems: 3, items: text, 'x-kubernetes-list-type': 'set' },
    map: {
      ...{ type: 'array', maxItems: 3, items: one },
      ...{ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name', 'zone'] },
    },
  },
}
const check = createStructureCheck(schema)
const long = 'a'.repeat(70)

test.each<[object, string[]]>([
  [{ days: 3, flag: null, mode: 'on', labels: { 'a/b': 'c' } }, []],
  [{ days: '3' }, ['days: got "3", expected a whole number']],
  [{ days: 10 }, ['days: got 10, expected 1 to 9']],
  [{ days: 4 }, ['days: got 4, expected a multiple of 3']],
  [{ flag: 'yes' }, ['flag: got "yes", expected true or false']],
  [{ mode: 5 }, ['mode: got 5, expected one of on, off']],
  [{ mode: 'in' }, ['mode: got "in", expected one of on, off']],
  [{ code: '' }, ['code: got 0 characters, expected 1 to 100']],
  [{ code: 'A' }, ['code: got "A", expected it to match ^[a-z]+$']],
  [{ code: '😀'.repeat(101) }, ['code: got 101 characters, expected 1 to 100']],
  [{ project: 'a' }, ['project: got "a", expected a uuid']],
  [{ labels: [] }, ['labels: got [], expected fields']],
  [{ labels: {} }, ['labels: got 0 entries, expected 1 to 2']],
  [{ labels: { 'a/b~c': 1 } }, ['labels.a/b~c: got 1, expected text']],
  [{ labels: { 0: 1 } }, ['labels.0: got 1, expected text']],
  [{ set: 'a' }, ['set: got "a", expected a list']],
  [{ set: ['a', 'b', 'c', 'd'] }, ['set: got 4 items, expected 0 to 3']],
  [{ set: ['a', 5] }, ['set[1]: got 5, expected text']],
  [{ set: ['a', 'b', 'a'] }, ['set[2]: got "a" twice, expected each once']],
  [{ set: [`${long}b`, `${long}c`] }, []],
  [{ map: [{}] }, ['map[0]: name is missing']],
  [{ map: [{ name: 'a' }, { name: 'a', zone: 'us' }] }, []],
  [
    { map: [{ name: 'a' }, { name: 'a', zone: 'eu' }] },
    ['map[1]: got ["a","eu"] twice, expected each once'],
  ],
])('%j has the faults %j', (value, expected) => {
  const faults = check(value).map(({ path, message }) => `${pathText(path)}: ${message}`)
  expect(faults).toEqual(expected)
})

test('all faults of a resource are reported, unknown fields at their key', () => {
  const faults = check({ days: 0, toString: 1, map: [{ zone: '' }] })
  expect(faults).toMatchObject([
    { path: ['toString'], part: 'key' },
    { path: ['days'], part: 'value' },
    { path: ['map', 0], message: 'name is missing' },
    { path: ['map', 0, 'zone'] },
  ])
})

test('missing defaults are added', () => {
  const value = { map: [{ name: 'a' }] }
  expect(check(value)).toEqual([])
  expect(value).toEqual({ map: [{ name: 'a', zone: 'eu' }] })
})
