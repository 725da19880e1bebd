import { spawnSync } from 'node:child_process'
import { parse } from 'dotenv'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Secret } from '../../../../platform/kube/index.ts'
import { type DeclaredKey, serviceAccountSpec } from '../spec.ts'
import {
  createRenderer,
  differenceOf,
  type SharedValues,
  toDotenv,
  toDraft,
  toJson,
  UnquotableValue,
} from './secret-contents.ts'
import { templateNoteName } from './secret-notes.ts'
import { placeholders, type SecretTemplate } from './secret-template.ts'

const main: DeclaredKey = { name: 'main', secretName: 'robot-key', secretKey: 'api-key' }
const key = {
  id: '01890000-0000-7000-8000-000000000001',
  value: `lt_sa_key00001_${'x'.repeat(32)}`,
}
const shared: SharedValues = {
  ...{ baseUrl: 'http://looptrace/v1', otlpEndpoint: 'http://looptrace', namespace: 'team' },
  projectId: '01890000-0000-7000-8000-000000000008',
  serviceAccountId: '01890000-0000-7000-8000-000000000009',
}
const contentsOf = (template?: SecretTemplate) => createRenderer(template, shared)(main, key)

/** Values with every character that a parser may treat as special, often several together. */
const hostile = fc.oneof(
  fc.string({ unit: fc.constantFrom(...`'"\`$\\#=\n\r\t !{}();|&<>*?~-a1\u2028é🙂`) }),
  fc.string({ unit: 'binary' }),
)
const allValues = fc.record(
  Object.fromEntries(placeholders.map((name) => [name, hostile])) as Record<
    (typeof placeholders)[number],
    typeof hostile
  >,
)
type Values = Parameters<typeof toDotenv>[0]

const variables = (values: Values) =>
  Object.fromEntries(
    placeholders.map((name) => [
      `LOOPTRACE_${name.replaceAll(/([A-Z])/g, '_$1').toUpperCase()}`,
      values[name],
    ]),
  )

/** Returns the file; undefined when a value is refused, for a character that no quoting can keep. */
function quoted(values: Values): string | undefined {
  try {
    return toDotenv(values)
  } catch (error) {
    expect(error).toBeInstanceOf(UnquotableValue)
    expect(Object.values(values).join('')).toMatch(/['\\\p{Cc}]/u)
    return undefined
  }
}

const tame = allValues.map((values) =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, value.replaceAll(/['\\\p{Cc}]/gu, '"')]),
  ),
) as typeof allValues

describe('no value breaks out of its format', () => {
  test('dotenv, as npm dotenv reads it', () => {
    fc.assert(
      fc.property(fc.oneof(allValues, tame), (values) => {
        const text = quoted(values)
        if (text !== undefined) expect(parse(text)).toEqual(variables(values))
      }),
      { numRuns: 2_000 },
    )
  })

  test('a backslash before a closing quote, which dotenv reads on into the next line', () => {
    expect(parse("A='a\\\\'\nB='# b'\n")).not.toHaveProperty('B')
    const values = { ...shared, apiKey: 'a', keyId: 'b\\\\', keyName: '# c' }
    expect(() => toDotenv(values)).toThrow(UnquotableValue)
  })

  test('dotenv, as sh reads it', () => {
    const files = fc.sample(tame, 40)
    const scripts = files.map((values) => `${toDotenv(values)}${printAll}`)
    const { stdout, status } = spawnSync('sh', ['-s'], { input: scripts.join(''), env: {} })
    expect(status).toBe(0)
    const expected = files.flatMap((values) => Object.values(variables(values)))
    expect(stdout.toString('utf8').split('\0').slice(0, -1)).toEqual(expected)
  })

  test('JSON', () => {
    fc.assert(
      fc.property(allValues, (values) => {
        expect(JSON.parse(toJson(values))).toEqual(values)
      }),
    )
  })

  test('a template: the value of one placeholder is not read as another', () => {
    const template = { entries: [{ key: 'a', template: 'x={{ namespace }};{{baseUrl}}' }] }
    const tricky = { ...shared, namespace: '{{ apiKey }}$&', baseUrl: "$'{{ projectId }}" }
    const { data } = createRenderer(template, tricky)(main, key)
    expect(data['a']).toBe("x={{ apiKey }}$&;$'{{ projectId }}")
  })
})

const printAll = `${placeholders
  .map((name) => `printf '%s\\0' "$LOOPTRACE_${name.replaceAll(/([A-Z])/g, '_$1').toUpperCase()}"`)
  .join('\n')}\n`

test('a Secret has its key, and the entries of the template', () => {
  expect(contentsOf()).toEqual({
    ...{ labels: {}, annotations: {}, digest: undefined },
    data: { 'api-key': key.value },
  })
  const { data } = contentsOf({
    entries: [
      { key: '.env', format: 'dotenv' },
      { key: 'config.json', format: 'json' },
      { key: 'OTEL_EXPORTER_OTLP_HEADERS', template: 'X-API-Key={{ apiKey }}' },
    ],
  })
  expect(Object.keys(data).toSorted()).toEqual([
    ...['.env', 'OTEL_EXPORTER_OTLP_HEADERS', 'api-key', 'config.json'],
  ])
  expect(parse(data['.env'] ?? '')).toMatchObject({ LOOPTRACE_API_KEY: key.value })
  expect(JSON.parse(data['config.json'] ?? '')).toMatchObject({ baseUrl: 'http://looptrace/v1' })
  expect(data['OTEL_EXPORTER_OTLP_HEADERS']).toBe(`X-API-Key=${key.value}`)
})

test('the largest template fits into a Secret of 1 MiB', () => {
  const baseUrl = `http://${'x'.repeat(193)}`
  const template = {
    annotations: items(20, 'a'.repeat(2_048)),
    labels: items(20, 'a'.repeat(63)),
    entries: Array.from({ length: 20 }, (_, i) => ({
      key: `${i}`.padStart(253, 'k'),
      template: '{{baseUrl}}'.repeat(186),
    })),
  }
  const spec = { projectRef: { name: 'a' }, scopes: [], secretTemplate: template }
  expect(serviceAccountSpec.safeParse(spec).error).toBeUndefined()
  const render = createRenderer(template, { ...shared, baseUrl })
  const draft = toDraft('robot-key', render(main, key), undefined)
  expect(Buffer.byteLength(JSON.stringify(draft))).toBeLessThan(1024 * 1024)
})

const items = (count: number, value: string) =>
  Array.from({ length: count }, (_, i) => ({ name: `example.com/name-${i}`, value }))

describe('labels and annotations', () => {
  const secretOf = (template: SecretTemplate | undefined, more: Partial<Secret> = {}): Secret => ({
    ...{ uid: 's1', namespace: 'team', resource_version: '1', owner_uid: 'r1' },
    ...toDraft('robot-key', contentsOf(template), undefined),
    ...more,
  })
  const team = { labels: [{ name: 'team', value: 'a' }], annotations: [{ name: 'b', value: 'c' }] }

  test('of others stay, and those of an earlier template go', () => {
    const before = secretOf(team)
    const shared = {
      ...before,
      labels: { ...before.labels, mine: '1' },
      annotations: { ...before.annotations, mine: '2' },
    }
    expect(differenceOf(shared, contentsOf(team))).toBeUndefined()
    expect(differenceOf(shared, contentsOf({}))).toBe('template')
    expect(toDraft('robot-key', contentsOf({}), shared).labels).toEqual({ mine: '1' })
    const plain = toDraft('robot-key', contentsOf(), shared)
    expect(plain).toMatchObject({ labels: { mine: '1' }, annotations: { mine: '2' } })
    expect(Object.keys(plain.annotations)).toEqual(['mine'])
  })

  test.each<[string, Partial<Secret>]>([
    ['a label was changed', { labels: { team: 'b' } }],
    ['a label was removed', { labels: {} }],
    ['an entry was added', { data: { 'api-key': key.value, more: 'a' } }],
  ])('drift: %s', (_name, more) => {
    expect(differenceOf(secretOf(team, more), contentsOf(team))).toBe('drift')
  })

  test('a note that someone else wrote removes nothing of the operator for long', () => {
    const note = { digest: 'x', labels: ['owner'], annotations: ['looptrace.dev/minted-at'] }
    const annotations = { [templateNoteName]: JSON.stringify(note), 'looptrace.dev/minted-at': 'x' }
    const secret = secretOf(undefined, { annotations })
    expect(differenceOf(secret, contentsOf())).toBe('template')
    for (const text of ['', '{', '[]', '{"digest":1}']) {
      const broken = secretOf(team, { annotations: { [templateNoteName]: text } })
      expect(differenceOf(broken, contentsOf(team))).toBe('template')
    }
  })

  test('of the operator can not be set, even by a template that was not checked', () => {
    const reserved = ['app.kubernetes.io/managed-by', 'looptrace.dev/owner-uid', 'a.k8s.io/b']
    const named = reserved.map((name) => ({ name, value: 'x' }))
    const { labels, annotations } = contentsOf({ labels: named, annotations: named })
    expect([labels, annotations]).toEqual([{}, {}])
  })
})

describe('the operator refuses what the CRD refuses', () => {
  const errorOf = (secretTemplate: object) => {
    const keys = [{ name: 'main', secretName: 'robot-key' }]
    const spec = { projectRef: { name: 'a' }, scopes: [], keys, secretTemplate }
    return serviceAccountSpec.safeParse(spec).error?.issues[0]?.message
  }
  test.each<[string, object]>([
    ['outside kubernetes.io', { labels: [{ name: 'looptrace.dev/channel', value: '' }] }],
    ['{{ apiKey }}', { entries: [{ key: 'a', template: '{{ key }}' }] }],
    ['either format or template', { entries: [{ key: 'a' }] }],
    ['no key that is the secretKey', { entries: [{ key: 'api-key', format: 'json' }] }],
  ])('%s', (message, template) => {
    expect(errorOf(template)).toContain(message)
  })
  test('and accepts the rest', () => {
    expect(errorOf({ entries: [{ key: 'a', template: '{ {{ apiKey }}' }] })).toBeUndefined()
  })
})
