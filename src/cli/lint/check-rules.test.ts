import { describe, expect, test } from 'vitest'
import { type Kind, kinds, resourceSchemaOf, type StructuralSchema } from '../../operator/index.ts'
import { parseCelRule, toCelValue } from './check-rules.ts'

const text: StructuralSchema = { type: 'string', maxLength: 9 }

test.each<[string, unknown, StructuralSchema, boolean]>([
  ['self <= 3', 3, { type: 'integer' }, true],
  ['self.size() == 2', ['a', 'b'], { type: 'array', items: text }, true],
  ['self.all(k, self[k] != "")', { a: '' }, { type: 'object', additionalProperties: text }, false],
  [
    'has(self.__namespace__)',
    { namespace: 'a' },
    { type: 'object', properties: { namespace: text } },
    true,
  ],
  ['has(self.a__dash__b)', { 'a-b': 'a' }, { type: 'object', properties: { 'a-b': text } }, true],
  ['duration(self) > duration("1h")', '90m', text, true],
  [
    'self > timestamp("2026-01-01T00:00:00Z")',
    '2026-01-02T00:00:00Z',
    { type: 'string', format: 'date-time' },
    true,
  ],
])('%s of %j', (rule, value, schema, expected) => {
  expect(parseCelRule(rule)?.(toCelValue(value, schema))).toBe(expected)
})

describe.each(kinds.map((kind) => [kind.kind, kind] as const))('%s', (_, kind: Kind) => {
  test('has only rules that lint can parse', () => {
    const rules = rulesIn(resourceSchemaOf(kind))
    expect(rules.length).toBeGreaterThan(0)
    for (const rule of rules) expect(() => parseCelRule(rule), rule).not.toThrow()
  })
})

function rulesIn(schema: StructuralSchema): string[] {
  const { properties = {}, items, additionalProperties } = schema
  const below = [...Object.values(properties), items, additionalProperties]
  return [
    ...(schema['x-kubernetes-validations'] ?? []).map(({ rule }) => rule),
    ...below.flatMap((part) => (part === undefined ? [] : rulesIn(part))),
  ]
}
