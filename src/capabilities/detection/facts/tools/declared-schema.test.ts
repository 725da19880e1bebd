import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findViolation } from './declared-schema.ts'

test('reports the violation with its path', () => {
  const schema = { type: 'object', properties: { a: { type: 'array', items: { type: 'string' } } } }
  expect(findViolation(schema, { a: ['x', 1] })).toEqual({ at: '/a/1', expected: 'must be string' })
  expect(findViolation(schema, { a: ['x'] })).toBeUndefined()
})

test('follows definitions', () => {
  const schema = {
    type: 'object',
    properties: { who: { $ref: '#/$defs/Person' } },
    $defs: { Person: { type: 'object', required: ['name'] } },
  }
  expect(findViolation(schema, { who: {} })).toMatchObject({ at: '/who' })
  expect(findViolation(schema, { who: { name: 'x' } })).toBeUndefined()
})

describe('hostile schemas are rejected at once', () => {
  const level = (n: number) => ({ allOf: [{ $ref: `#/$defs/d${n}` }, { $ref: `#/$defs/d${n}` }] })
  const doubling = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`d${n}`, level(n + 1)]))
  const self = { $ref: '#/$defs/self' }
  const deep = (depth: number) => {
    let schema: Record<string, unknown> = { type: 'string' }
    for (let at = 0; at < depth; at++) schema = { type: 'object', properties: { a: schema } }
    return schema
  }
  test.each<[string, Record<string, unknown>]>([
    ['references that double sixty times', { ...level(0), $defs: doubling }],
    ['a self-referencing definition', { ...self, $defs: { self: { anyOf: [self, self] } } }],
    ['a reference to the root', { properties: { a: { anyOf: [{ $ref: '#' }, { $ref: '#' }] } } }],
    ['a reference to elsewhere', { $ref: 'http://127.0.0.1:9/schema.json' }],
    ['a thousand levels', deep(1_000)],
    ['an asynchronous one', { $async: true, $id: 'x', type: 'object' }],
    ['invalid types', { type: ['object', 7], required: 'a', enum: 3, items: 5 }],
    ['names of the machinery', JSON.parse('{"properties":{"__proto__":{"type":"string"}}}')],
  ])('%s', (_what, schema) => {
    let value: unknown = 'a'.repeat(40)
    for (let at = 0; at < 500; at++) value = { a: value }
    expect(findViolation(schema, value)).toBeUndefined()
  })
})

test('does not run patterns, which can backtrack', () => {
  const schema = { properties: { a: { type: 'string', pattern: '^(a+)+$' } } }
  expect(findViolation(schema, { a: `${'a'.repeat(60)}!` })).toBeUndefined()
})

test('ignores circular references and checks the rest', () => {
  const schema = {
    type: 'object',
    required: ['filter'],
    properties: { filter: { $ref: '#/$defs/node' } },
    $defs: { node: { properties: { and: { type: 'array', items: { $ref: '#/$defs/node' } } } } },
  }
  expect(findViolation(schema, {})).toMatchObject({ at: 'the arguments' })
  expect(findViolation(schema, { filter: { and: [{ and: [] }] } })).toBeUndefined()
})

test.each(['__proto__', 'constructor', 'toString'])('takes the key %s for no keyword', (key) => {
  const schema = JSON.parse(`{"not": {"${key}": 0}}`)
  expect(findViolation(schema, {})).toMatchObject({ at: 'the arguments' })
})

test('never throws, for any schema and value', () => {
  const word = fc.constantFrom(
    'type',
    'items',
    'properties',
    '$ref',
    'anyOf',
    'enum',
    'not',
    '$defs',
  )
  const schema = fc.letrec((tie) => ({
    node: fc.dictionary(word, fc.oneof({ depthSize: 'small' }, fc.jsonValue(), tie('node')), {
      maxKeys: 4,
    }),
  })).node
  fc.assert(
    fc.property(schema, fc.jsonValue(), (given, value) => {
      findViolation(given as Record<string, unknown>, value)
    }),
    { numRuns: 300 },
  )
})
