import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { recordEffects } from '../../../test/support/kube/recorded-effects.ts'
import { commonSpecFields } from '../common-spec.ts'
import type { Kind } from '../contract.ts'
import { kinds } from './index.ts'

/** Specs besides the example, so that each section of a kind is in one of them. */
const more: Readonly<Record<string, readonly object[]>> = {
  IncidentRule: [
    { condition: { signal: 'ingest_lag', longerThan: '5m' } },
    { condition: { signal: 'cost', window: '10m', threshold: '4' } },
    { burnRate: { signal: 'error_rate', objective: '0.95', preset: 'standard' } },
    {
      burnRate: {
        ...{ signal: 'error_rate', objective: '0.95' },
        tiers: [{ factor: '14.4', long: '1h', short: '5m', severity: 'high' }],
      },
    },
    { baseline: { signal: 'cost', maxRatio: '3', floor: '1' } },
    { event: { match: { source: 'finding' }, count: 2, within: '1h' } },
    { event: { match: { source: 'ledger' } } },
    {
      condition: { signal: 'cost', window: '10m', threshold: '4' },
      ...{ groupBy: ['model', 'tag'], inhibitedBy: [{ rule: 'other', equal: ['model'] }] },
      escalation: [{ after: '5m', notify: ['pager'] }],
    },
    {
      condition: { signal: 'cost', window: '10m', threshold: '4' },
      ...{ groupBy: ['model'], inhibitedBy: [{ labels: { a: 'b' }, equal: ['model'] }] },
    },
  ].map((fields) => ({ projectRef: { name: 'default' }, severity: 'high', ...fields })),
  LooptraceServiceAccount: [{ template: 'a' }, { format: 'json' }].map((content) => ({
    ...{ projectRef: { name: 'default' }, scopes: ['proxy:write'] },
    keys: [{ name: 'main', secretName: 'one', rotateAfter: '1h' }],
    secretTemplate: {
      labels: [{ name: 'team', value: 'a' }],
      annotations: [{ name: 'team', value: 'a' }],
      entries: [{ key: 'other', ...content }],
    },
  })),
  NotificationChannel: [
    { slack: { channel: '#alerts', secretRef: { name: 'one', key: 'token' } } },
    { pagerduty: { secretRef: { name: 'one', key: 'token' } } },
    { alertmanager: { url: 'https://a.example.com', secretRef: { name: 'one', key: 'token' } } },
    { email: { to: ['ada@example.com'] } },
  ].map((fields) => ({ projectRef: { name: 'default' }, ...fields })),
  ProjectGrant: [
    {
      ...{ project: { id: '0a1b2c3d-0000-4000-8000-0123456789ab' }, kinds: ['Project'] },
      namespaces: {
        selector: { matchExpressions: [{ key: 'team', operator: 'In', values: ['a'] }] },
      },
    },
  ],
  ReleasePolicy: [
    {
      projectRef: { name: 'default' },
      gates: [{ metric: 'eval_pass_rate', kind: 'pass_k', threshold: '0.9', k: 3 }],
    },
    {
      projectRef: { name: 'default' },
      gates: [{ metric: 'task_success_rate', kind: 'worst_group', threshold: '0.9' }],
    },
    {
      projectRef: { name: 'default' },
      gates: [{ metric: 'task_success_rate', kind: 'regression', maxDrop: '0.1' }],
    },
    {
      projectRef: { name: 'default' },
      gates: [{ metric: 'loop_rate', kind: 'zero_tolerance', maxRate: '0.1' }],
    },
  ],
  RetentionPolicy: [
    {
      ...{ projectRef: { name: 'default' }, legalHolds: [{ name: 'one', reason: 'x' }] },
      environments: [{ name: 'dev', content: {}, events: {}, traces: {}, observations: {} }],
      ...{ archive: { enabled: true, afterDays: 3 }, events: {} },
    },
  ],
}

/** Fields that the operator itself follows, and those of later reconciles with their own tests. */
const followedElsewhere: readonly string[] = [
  ...Object.keys(commonSpecFields),
  'projectRef',
  // It has one value, and tiers instead of it are tried.
  'burnRate.preset',
  // key-plan.test.ts
  ...['keys[].rotateAfter', 'keys[].overlap'],
]

test.each(kinds)('each field of the spec of $kind has an effect', async (kind) => {
  const without: string[] = []
  for (const { path, schema } of leavesOf(kind.spec, '')) {
    if (followedElsewhere.some((own) => path === own || path.startsWith(`${own}.`))) continue
    if (!(await hasEffect(kind, path, schema))) without.push(path)
  }
  expect(without).toEqual([])
})

/** Whether two valid values of a field lead to different requests or demands. */
async function hasEffect(kind: Kind, path: string, schema: z.ZodType): Promise<boolean> {
  for (const base of [kind.example.spec, ...(more[kind.kind] ?? [])]) {
    let first: unknown[] | undefined
    for (const value of [undefined, ...valuesOf(schema)]) {
      const spec = withValue(base, path.split('.'), value)
      if (spec === undefined || !kind.spec.safeParse(spec).success) continue
      const effects = await recordEffects(kind, spec as never)
      first ??= effects
      if (!isDeepStrictEqual(effects, first)) return true
    }
  }
  return false
}

type Leaf = { path: string; schema: z.ZodType }

/** Returns the fields that have no fields themselves. */
function leavesOf(schema: z.ZodType, path: string): Leaf[] {
  const plain = plainOf(schema)
  if (plain instanceof z.ZodObject) {
    return Object.entries(plain.shape).flatMap(([name, field]) =>
      leavesOf(field as z.ZodType, path === '' ? name : `${path}.${name}`),
    )
  }
  if (plain instanceof z.ZodArray && plainOf(plain.element as z.ZodType) instanceof z.ZodObject) {
    return leavesOf(plain.element as z.ZodType, `${path}[]`)
  }
  return [{ path, schema: plain }]
}

/** Returns the schema without its default, and without being optional. */
function plainOf(schema: z.ZodType): z.ZodType {
  const isWrapped =
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault
  return isWrapped ? plainOf(schema.unwrap() as z.ZodType) : schema
}

const texts = [
  ...['a', 'b', 'some-name', '1m', '2m', '30m', '2h', '2d', '3d', '0.9', '0.95', '0.85', '2.5'],
  ...['7', 'https://one.example.com/x', 'https://two.example.com/y', 'one@example.com'],
  ...['two@example.com', '0 5 * * *', 'Project', 'RetentionPolicy', 'lost', 'repeat_call', 'Z_A'],
  ...['0a1b2c3d-0000-4000-8000-0123456789aa', '0a1b2c3d-0000-4000-8000-0123456789bb'],
]

/** Returns values to try; those that the schema refuses are left out by the caller. */
function valuesOf(schema: z.ZodType): unknown[] {
  const plain = plainOf(schema)
  if (plain instanceof z.ZodEnum) return plain.options
  if (plain instanceof z.ZodBoolean) return [true, false]
  if (plain instanceof z.ZodNumber) return [0, 1, 2, 3, 5, 7, 11, 30, 400]
  if (plain instanceof z.ZodArray) return valuesOf(plain.element as z.ZodType).map((one) => [one])
  if (plain instanceof z.ZodRecord) return [{}, { team: 'a' }, { team: 'b' }, { 'x.y': 'c' }]
  return texts
}

/** Returns the value with a field replaced; undefined if a parent of the field is not there. */
function withValue(base: unknown, [name = '', ...rest]: string[], value: unknown): unknown {
  if (typeof base !== 'object' || base === null) return undefined
  const key = name.replace('[]', '')
  const before = new Map<string, unknown>(Object.entries(base)).get(key)
  if (rest.length === 0) return { ...base, [key]: value }
  const isList = name.endsWith('[]')
  const inner = withValue(isList ? Object(before)[0] : (before ?? {}), rest, value)
  return inner && { ...base, [key]: isList ? [inner] : inner }
}
