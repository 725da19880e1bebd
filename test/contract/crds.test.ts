import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { z } from 'zod'
import { lintResources } from '../../src/cli/lint/lint.ts'
import {
  apiVersion,
  commonSpecFields,
  crdOf,
  crdYaml,
  type Kind,
  kinds,
} from '../../src/operator/index.ts'
import { eventually } from '../support/eventually.ts'
import { type ApiServer, apiServerStartTimeoutMs } from '../support/kube/api-server.ts'
import { sharedApiServer } from '../support/kube/shared-api-server.ts'

const fixed = { 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'it is fixed' }] }
const word = z.string().min(1).max(20).describe('A word.')
const whole = z
  .int()
  .min(0)
  .max(2 ** 40)

/** A kind that uses everything that the generator supports. */
const thing: Kind = {
  ...{ kind: 'Thing', plural: 'things', singular: 'thing', short_names: ['th'] },
  description: 'A thing, for tests.',
  spec: z.strictObject({
    ...commonSpecFields,
    large: whole.default(2 ** 33).describe('A large number.'),
    nothing: whole.nullable().default(null).describe('A number or null.'),
    fixedOptional: word.meta(fixed).optional(),
    map: z.record(z.string(), word).meta({ maxProperties: 2 }).optional().describe('A map.'),
    set: z
      .array(word)
      .max(3)
      .meta({ 'x-kubernetes-list-type': 'set' })
      .default([])
      .describe('Set.'),
    section: z
      .strictObject({ a: z.boolean().default(true).describe('A.'), b: word.default('b') })
      .prefault({})
      .describe('A section with defaults.'),
    namespace: word.optional(),
    at: z.iso.datetime().optional().describe('An instant.'),
    id: z.uuid().max(36).optional().describe('A UUID.'),
  }) as never,
  status: z.strictObject({ seen: whole.optional().describe('Seen.') }),
  rules: [
    {
      rule: "!has(self.spec.__namespace__) || self.spec.__namespace__ != 'never'",
      message: 'namespace: never',
    },
  ],
  columns: [{ name: 'Large', type: 'integer', path: '.spec.large', description: 'A number.' }],
  example: { metadata: { name: 'one' }, spec: {} },
  reconcile: () => Promise.reject(new Error('never called')),
  remove: () => Promise.resolve(),
}

let server: ApiServer
let namespace: string

beforeAll(async () => {
  server = await sharedApiServer()
  const created = await server.kubectl(['create', '-f', '-'], { input: crdYaml(crdOf(thing)) })
  expect(created).toMatchObject({ status: 0, stderr: '' })
  namespace = await server.namespace()
  await eventually('things are served', async () => {
    return (await server.ask('GET', `/apis/${apiVersion}/things`)).status === 200
  })
}, apiServerStartTimeoutMs)

afterAll(() => server?.[Symbol.asyncDispose]())

const yamlOf = (name: string, spec: object) =>
  stringify({ apiVersion, kind: 'Thing', metadata: { name, namespace }, spec })

async function applied(name: string, spec: object) {
  const input = yamlOf(name, spec)
  const { findings } = lintResources([thing], [{ name: 'thing.yaml', text: input }])
  const { status, stderr } = await server.kubectl(['apply', '-f', '-'], { input })
  return { taken: status === 0, stderr, findings }
}

type Fields = Readonly<Record<string, unknown>>

async function stored(name: string) {
  const path = `/apis/${apiVersion}/namespaces/${namespace}/things/${name}`
  return (await server.tell('GET', path)).spec
}

const conditionOf = (status: { conditions?: { type: string; status: string }[] }, type: string) =>
  status.conditions?.find((one) => one.type === type)?.status

describe('a generated CRD', () => {
  test('is structural, accepted and established', async () => {
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.looptrace.dev'
    const status = await eventually('the CRD is established', async () => {
      const { status } = await server.tell('GET', path)
      return conditionOf(status, 'Established') === 'True' && status
    })
    expect(conditionOf(status, 'NonStructuralSchema')).toBeUndefined()
  })

  test('fills in the defaults that the kind has itself', async () => {
    expect(await applied('empty', {})).toMatchObject({ taken: true, findings: [] })
    const { nothing, ...filled } = thing.spec.parse({}) as Fields
    expect([nothing, await stored('empty')]).toEqual([null, filled])
  })

  test('accepts null where allowed and omits it elsewhere', async () => {
    const input = yamlOf('null', { nothing: null, map: null, large: null })
    expect(await server.kubectl(['create', '-f', '-'], { input })).toMatchObject({ status: 0 })
    expect(await stored('null')).toEqual(thing.spec.parse({}))
  })

  test.each<[string, object, boolean]>([
    ['a number of 2^40', { large: 2 ** 40 }, true],
    ['a number past its bound', { large: 2 ** 40 + 1 }, false],
    ['a map', { map: { a: 'b', 'c.d/e': 'f' } }, true],
    ['a map with too much', { map: { a: 'b', c: 'd', e: 'f' } }, false],
    ['a map with a number', { map: { a: 1 } }, false],
    ['a set', { set: ['a', 'b'] }, true],
    ['a set with a word twice', { set: ['a', 'a'] }, false],
    ['a word of CEL as a field', { namespace: 'a' }, true],
    ['a rule about it that is broken', { namespace: 'never' }, false],
    ['an instant', { at: '2026-01-01T00:00:00Z' }, true],
    ['a day for an instant', { at: '2026-01-01' }, false],
    ['a 30th of February', { at: '2026-02-30T00:00:00Z' }, false],
    ['a UUID', { id: '0199aaaa-0000-7000-8000-000000000000' }, true],
    ['a UUID without dashes', { id: '0199aaaa000070008000000000000000' }, false],
    ['a section with a field of null', { section: { a: null } }, true],
    ['a section of null', { section: null }, true],
    ['a list for a map', { map: [] }, false],
  ])('%s: the API server and lint agree', async (_name, spec, expected) => {
    const text = yamlOf('case', spec)
    const { findings } = lintResources([thing], [{ name: 'thing.yaml', text }])
    // The request of `kubectl create --dry-run=server`.
    const path = `/apis/${apiVersion}/namespaces/${namespace}/things?dryRun=All&fieldValidation=Strict`
    const { status } = await server.ask('POST', path, { body: parse(text) })
    expect([status === 201, findings.length === 0]).toEqual([expected, expected])
  })

  test('keeps an immutable field, whether it was set or not', async () => {
    expect(await applied('with', { fixedOptional: 'a' })).toMatchObject({ taken: true })
    expect(await applied('without', {})).toMatchObject({ taken: true })
    for (const [name, spec, message] of [
      ['with', { fixedOptional: 'b' }, 'it is fixed'],
      ['with', {}, 'fixedOptional can not be added or removed later'],
      ['without', { fixedOptional: 'a' }, 'fixedOptional can not be added or removed later'],
    ] as const) {
      const { taken, stderr } = await applied(name, spec)
      expect([name, taken, stderr]).toEqual([name, false, expect.stringContaining(message)])
    }
    expect(await applied('with', { fixedOptional: 'a', large: 1 })).toMatchObject({ taken: true })
  })

  test('has a status with conditions by type, and its columns', async () => {
    const path = `/apis/${apiVersion}/namespaces/${namespace}/things/with/status`
    const of = (type: string, reason: string) => ({
      conditions: [
        {
          ...{ type, reason, status: 'True', message: 'm', observedGeneration: 1 },
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
      ],
    })
    const apply = (manager: string, status: object) =>
      server.tell('PATCH', `${path}?fieldManager=${manager}&force=true`, {
        body: { apiVersion, kind: 'Thing', metadata: { name: 'with', namespace }, status },
      })
    await apply('one', of('Ready', 'Synced'))
    const { status } = await apply('two', of('Held', 'Hold'))
    expect(status.conditions.map(({ type }: { type: string }) => type)).toEqual(['Ready', 'Held'])
    const { stdout } = await server.kubectl(['get', 'th', 'with', '-n', namespace])
    expect(stdout).toMatch(/NAME +READY +REASON +LARGE +LAST SYNC +AGE\nwith +True +Synced +1 /)
  })
})

describe('the files of the repository', () => {
  test('have a CRD for each kind, and no others', async () => {
    const names = kinds.map(({ plural }) => `${plural}.looptrace.dev.yaml`).toSorted()
    expect((await readdir('crds')).toSorted()).toEqual(names)
    expect((await readdir('charts/looptrace/files/crds')).toSorted()).toEqual(names)
    expect(await readdir('docs/reference/schemas')).toHaveLength(kinds.length)
  })

  test('examples pass lint', async () => {
    const names = (await readdir('examples', { recursive: true })).filter((name) =>
      name.endsWith('.yaml'),
    )
    const files = await Promise.all(
      names.map(async (name) => ({ name, text: await readFile(join('examples', name), 'utf8') })),
    )
    const report = lintResources(kinds, files)
    expect(report.findings).toEqual([])
    expect(report.resources).toBeGreaterThanOrEqual(kinds.length)
  })

  test.each(kinds.map((kind) => [kind.singular, kind] as const))(
    'the schema for editors accepts the example of a %s, and no unknown field',
    async (singular, { kind, example }) => {
      const path = `docs/reference/schemas/${singular}_v1alpha1.json`
      const ajv = new Ajv({ strict: false, validateFormats: false })
      const check = ajv.compile(JSON.parse(await readFile(path, 'utf8')))
      const resource = { apiVersion, kind, ...example }
      expect([check(resource), check.errors]).toEqual([true, null])
      const spec = { ...(example.spec as object), sepc: 1 }
      expect(check({ ...resource, spec })).toBe(false)
      expect(check({ ...resource, kind: 'Other' })).toBe(false)
    },
  )
})
