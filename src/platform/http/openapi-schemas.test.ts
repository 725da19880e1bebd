import { expect, test } from 'vitest'
import { z } from 'zod'
import { documentedAs, record } from '../../model/named-schemas.ts'
import { namedSchemas } from './openapi-schemas.ts'

const part = record('Part', { id: z.uuid(), kind: z.enum(['a', 'b']).meta({ id: 'PartKind' }) })

test('a schema with an id is a component, nested ones too', () => {
  const schema = record('Whole', { parts: z.array(part), first: part.nullable().describe('One.') })
  const named = namedSchemas([{ schema, io: 'output' }])
  expect(named.of({ schema, io: 'output' })).toEqual({ $ref: '#/components/schemas/Whole' })
  expect(Object.keys(named.components)).toEqual(['Part', 'PartKind', 'Uuid', 'Whole'])
  expect(named.components['Whole']?.['properties']).toEqual({
    parts: { type: 'array', items: { $ref: '#/components/schemas/Part' } },
    first: {
      anyOf: [{ $ref: '#/components/schemas/Part' }, { type: 'null' }],
      description: 'One.',
    },
  })
})

test('a scalar that equals a component refers to it, with its own description', () => {
  const schema = record('Other', { kind: z.enum(['a', 'b']).describe('Which one.') })
  const named = namedSchemas([
    { schema, io: 'output' },
    { schema: part, io: 'output' },
  ])
  expect(named.components['Other']?.['properties']).toEqual({
    kind: { $ref: '#/components/schemas/PartKind', description: 'Which one.' },
  })
})

test('a schema with different input and output shapes has a component for each', () => {
  const inner = record('Inner', { n: z.int().default(3).describe('How many.') })
  const schema = record('Outer', { inner })
  const same = record('Same', { text: z.string() })
  const uses = [schema, same].flatMap((each) => [
    { schema: each, io: 'input' as const },
    { schema: each, io: 'output' as const },
  ])
  const named = namedSchemas(uses)
  expect(named.of({ schema, io: 'input' })).toEqual({ $ref: '#/components/schemas/OuterInput' })
  expect(named.components['InnerInput']).not.toHaveProperty('required')
  expect(named.components['Inner']).toMatchObject({ required: ['n'] })
  expect(named.components['OuterInput']?.['properties']).toEqual({
    inner: { $ref: '#/components/schemas/InnerInput' },
  })
  expect(named.components).not.toHaveProperty('SameInput')
})

test('a union of records has a discriminator', () => {
  const schema = z.discriminatedUnion('type', [
    record('Cat', { type: z.literal('cat') }),
    record('Dog', { type: z.literal('dog') }),
  ])
  const named = namedSchemas([{ schema, io: 'output' }])
  expect(named.of({ schema, io: 'output' })).toMatchObject({
    discriminator: {
      propertyName: 'type',
      mapping: { cat: '#/components/schemas/Cat', dog: '#/components/schemas/Dog' },
    },
  })
})

test('a schema can be documented as another one, which may be recursive', () => {
  const tree: z.ZodType = z
    .lazy(() => record('Branch', { parts: z.array(tree) }))
    .meta({ id: 'Tree' })
  const schema = z.strictObject({ tree: documentedAs(z.unknown(), tree).optional() })
  const named = namedSchemas([{ schema, io: 'input' }])
  expect(named.of({ schema, io: 'input' })).toMatchObject({
    properties: { tree: { $ref: '#/components/schemas/Tree' } },
  })
  expect(named.components['Branch']?.['properties']).toEqual({
    parts: { type: 'array', items: { $ref: '#/components/schemas/Tree' } },
  })
})

test('null joins the type of a field, unless its values are listed', () => {
  const schema = z.strictObject({
    text: z.string().max(5).nullable(),
    one: z.literal('x').nullable(),
  })
  const named = namedSchemas([{ schema, io: 'output' }])
  expect(named.of({ schema, io: 'output' })['properties']).toEqual({
    text: { type: ['string', 'null'], maxLength: 5 },
    one: { anyOf: [{ type: 'string', const: 'x' }, { type: 'null' }] },
  })
})

test('rejects two schemas with the same name', () => {
  const schemas = [record('Twin', { a: z.string() }), record('Twin', { b: z.string() })]
  const uses = schemas.map((schema) => ({ schema, io: 'output' as const }))
  expect(() => namedSchemas(uses)).toThrow('two different schemas have the name Twin')
})
