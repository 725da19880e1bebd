import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { commonSpecFields, projectRefField } from '../common-spec.ts'
import type { Kind } from '../contract.ts'
import { type Crd, crdOf, crdYaml } from './crd.ts'
import type { StructuralSchema } from './structural-schema.ts'

const name = z.string().min(1).max(63).describe('A name.')

/** Returns a kind with the given fields in its spec. */
function kindWith(fields: z.core.$ZodLooseShape, status: z.ZodType<object> = z.strictObject({})) {
  const kind: Kind = {
    kind: 'Thing',
    plural: 'things',
    singular: 'thing',
    short_names: ['th'],
    description: 'A thing.',
    spec: z.strictObject({ ...commonSpecFields, ...fields }) as Kind['spec'],
    status,
    rules: [],
    columns: [{ name: 'Days', type: 'integer', path: '.spec.days', description: 'Days.' }],
    example: { metadata: { name: 'one' }, spec: {} },
    reconcile: () => Promise.reject(new Error('never called')),
    remove: () => Promise.resolve(),
  }
  return kind
}

function specOf(crd: Crd): StructuralSchema {
  const spec = crd.spec.versions[0]?.schema.openAPIV3Schema.properties?.['spec']
  if (spec === undefined) throw new Error('the CRD has no spec')
  return spec
}

const fieldOf = (schema: z.ZodType) =>
  specOf(crdOf(kindWith({ field: schema.describe('A field.') }))).properties?.['field']

test('a cluster-scoped kind has a cluster-scoped CRD, and others a namespaced one', () => {
  expect(crdOf({ ...kindWith({}), scope: 'Cluster' }).spec.scope).toBe('Cluster')
  expect(crdOf(kindWith({})).spec.scope).toBe('Namespaced')
})

describe('a field becomes', () => {
  test.each<[string, z.ZodType, object]>([
    ['a small number', z.int().min(1).max(9), { format: 'int32', minimum: 1, maximum: 9 }],
    [
      'a large number',
      z
        .int()
        .min(0)
        .max(2 ** 40),
      { format: 'int64', maximum: 2 ** 40 },
    ],
    ['a positive number', z.int().positive().lt(5), { minimum: 1, maximum: 4 }],
    ['an enum', z.enum(['a', 'b']), { type: 'string', enum: ['a', 'b'] }],
    ['a literal', z.literal('a'), { type: 'string', enum: ['a'] }],
    ['null or a number', z.int().min(1).max(9).nullable(), { type: 'integer', nullable: true }],
    ['a default', z.boolean().default(true), { type: 'boolean', default: true }],
    ['a default of null', z.boolean().nullable().default(null), { nullable: true }],
    ['a list', z.array(name).max(3), { maxItems: 3, 'x-kubernetes-list-type': 'atomic' }],
    [
      'a list without doubles',
      z.array(name).max(3).meta({ 'x-kubernetes-list-type': 'set' }),
      { 'x-kubernetes-list-type': 'set' },
    ],
    [
      'a list by name',
      z
        .array(z.strictObject({ name }))
        .max(3)
        .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
      { 'x-kubernetes-list-map-keys': ['name'] },
    ],
    [
      'a map',
      z.record(z.string(), name).meta({ maxProperties: 3 }),
      { type: 'object', maxProperties: 3 },
    ],
    ['a section', z.strictObject({ name }), { type: 'object', required: ['name'] }],
    [
      'a section with defaults',
      z.strictObject({ name }).prefault({ name: 'a' }),
      { default: { name: 'a' } },
    ],
    ['a UUID', z.uuid().max(36), { type: 'string', format: 'uuid', maxLength: 36 }],
  ])('%s', (_name, schema, expected) => {
    const field = fieldOf(schema)
    expect(field).toMatchObject({ description: 'A field.', ...expected })
    expect(JSON.stringify(field)).not.toMatch(
      /default":null|additionalProperties":false|\$schema|anyOf|const/,
    )
  })
})

describe('refused, with its path:', () => {
  test.each<[string, z.ZodType, string]>([
    ['a fraction', z.number().min(0).max(1), 'spec.field: a number with a fraction'],
    ['a union', z.union([z.boolean(), name]), 'spec.field: '],
    ['a list of unions', z.array(z.union([z.strictObject({ name }), name])).max(1), 'field[]: '],
    ['a string without a bound', z.string(), 'spec.field: a string without a bound'],
    ['a list without a bound', z.array(name), 'spec.field: a list without a bound'],
    ['a map without a bound', z.record(z.string(), name), 'spec.field: a map without a bound'],
    ['a number without a bound', z.int().min(1), 'spec.field: a number without bounds'],
    ['no description', z.strictObject({ a: z.boolean() }), 'spec.field.a: no description'],
    [
      'a lookahead',
      z
        .string()
        .max(9)
        .regex(/^(?!a)/),
      'spec.field: a lookaround',
    ],
    ['a back-reference', z.string().max(9).regex(/(a)\1/), 'spec.field: a back-reference'],
    ['an e-mail', z.email().max(9), 'spec.field: format email'],
    ['a value deep in a list', z.array(z.array(z.string()).max(1)).max(1), 'spec.field[][]: '],
    [
      'a map list whose key may be missing',
      z
        .array(z.strictObject({ name: name.optional() }))
        .max(3)
        .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
      'spec.field: key name may be missing',
    ],
    [
      'a rule without a message',
      name.meta({ 'x-kubernetes-validations': [{ rule: 'self != ""' }] }),
      'spec.field: a rule without a message',
    ],
  ])('%s', (_name, schema, message) => {
    expect(() => fieldOf(schema)).toThrow(message)
  })
})

const immutable = { 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'no' }] }

test('an optional immutable field can not be added or removed later', () => {
  const spec = specOf(crdOf(kindWith({ field: name.meta(immutable).optional() })))
  expect(spec['x-kubernetes-validations']).toEqual([
    { rule: 'has(self.field) == has(oldSelf.field)', message: expect.stringContaining('field') },
  ])
  const required = specOf(crdOf(kindWith({ projectRef: projectRefField })))
  expect(required['x-kubernetes-validations']).toBeUndefined()
})

test('an immutable field in an optional section is refused', () => {
  const section = z.strictObject({ name: name.meta(immutable) })
  expect(() => fieldOf(section.optional())).toThrow(
    'spec.field.name: immutable in an optional section',
  )
})

test('a status has conditions, and no field is required', () => {
  const status = z.strictObject({ rows: z.int().min(0).max(9).describe('Rows.') })
  const schema = crdOf(kindWith({}, status)).spec.versions[0]?.schema.openAPIV3Schema
  const { properties, required } = schema?.properties?.['status'] ?? {}
  expect(Object.keys(properties ?? {})).toEqual([
    'conditions',
    'observedGeneration',
    'lastSyncTime',
    'rows',
  ])
  expect(required).toBeUndefined()
  expect(properties?.['conditions']?.['x-kubernetes-list-map-keys']).toEqual(['type'])
})

test('columns are Ready, Reason, those of the kind, Last Sync and Age', () => {
  const columns = crdOf(kindWith({})).spec.versions[0]?.additionalPrinterColumns
  expect(columns?.map((column) => column.name)).toEqual([
    ...['Ready', 'Reason', 'Days', 'Last Sync', 'Age'],
  ])
})

test('the YAML has the same bytes each time', () => {
  const yaml = crdYaml(crdOf(kindWith({ field: name })))
  expect(crdYaml(crdOf(kindWith({ field: name })))).toBe(yaml)
  expect(yaml).toContain('name: things.looptrace.dev\n')
  expect(yaml).not.toMatch(/[&*]a\d/)
})
