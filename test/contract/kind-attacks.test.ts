import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Kind, kinds } from '../../src/operator/index.ts'
import { eventually } from '../support/eventually.ts'
import { apiServerStartTimeoutMs, editor } from '../support/kube/api-server.ts'
import { type Editor, editorOf } from '../support/kube/editor.ts'
import type { TestOperator } from '../support/kube/operator.ts'
import {
  type ProductCluster,
  productOperator,
  productPlace,
  sharedProductCluster,
} from '../support/kube/product-cluster.ts'
import { readyOf, resourcesOf } from '../support/kube/resources.ts'
import { budget } from '../support/suite/budget.ts'

/** Attacks by `mallory`, who may create the namespaced kinds of the product in her namespaces. */
/** Its times are long, because a busy machine may pause for a second. */
const lease = { lease_ms: 300_000, renew_deadline_ms: 240_000, retry_ms: 2_000 }
let cluster: ProductCluster
let operator: TestOperator
let mallory: Editor

beforeAll(async () => {
  cluster = await sharedProductCluster()
  const namespace = await cluster.server.namespace()
  const settings = { presence: { namespace, name: 'one', ...lease } }
  operator = await productOperator(cluster, [], { times: 20, settings })
  mallory = editorOf(cluster.server, editor)
}, apiServerStartTimeoutMs)
afterAll(async () => {
  await operator?.stop()
  await cluster?.[Symbol.asyncDispose]()
})

/** A namespace of mallory. `resources` are those of a kind in it. */
async function mallorysPlace({ isGranted = true } = {}) {
  const own = await productPlace(cluster, { isGranted })
  await mallory.letEdit(own.namespace)
  const resources = (name: string) => {
    const kind = kinds.find((one) => one.kind === name)
    return resourcesOf(cluster.server, kind as Kind, own.namespace)
  }
  return { ...own, resources }
}

const account = (project: string, more: object = {}) => ({
  ...{ projectRef: { id: project }, resyncPeriod: '30s', scopes: ['tasks:read'] },
  keys: [{ name: 'main', secretName: 'robot-key' }],
  ...more,
})
const condition = { signal: 'ttft_p95', window: '10m', threshold: '4000', minSamples: 30 }
const hook = { url: 'https://in.example.com', secretRef: { name: 'hook', key: 'value' } }
const gate = { metric: 'loop_rate', kind: 'absolute', threshold: '0.1' }

describe('a resource that names a foreign project', () => {
  test.each<[string, object]>([
    ['IncidentRule', { severity: 'high', condition }],
    ['NotificationChannel', { webhook: hook }],
    ['ReleasePolicy', { gates: [gate] }],
    ['RetentionPolicy', { traces: { days: 1 }, observations: { days: 1 } }],
    ['LooptraceServiceAccount', { scopes: ['tasks:read'], keys: [] }],
  ])('%s is not granted, by its id and by its name', async (kind, spec) => {
    const own = await mallorysPlace()
    const name = `victim-${own.namespace}`
    const victim = await cluster.service.project(name)
    const refs = { 'by-id': { id: victim }, 'by-name': { organization: 'default', name } }
    const resources = own.resources(kind)
    for (const [at, projectRef] of Object.entries(refs)) {
      await mallory.apply(resources, { name: at, kind, spec: { ...spec, projectRef } })
      await resources.notReady(at, 'NotGranted')
    }
  })
})

describe('a template of a Secret', () => {
  const kind = 'LooptraceServiceAccount'
  const refused: [string, object][] = [
    ...[
      '{{ secret }}',
      '{{ constructor }}',
      '{{ __proto__ }}',
      '{{ apiKey.length }}',
      '{{ apiKey | print }}',
      '{{{ apiKey }}}',
      '{{ {{ apiKey }} }}',
      '{{ apiKey }',
      '{{\napiKey }}',
      '{{ apiKey\u200b }}',
      '{{ ａpiKey }}',
      `${'{'.repeat(2_048)}`,
    ].map((template): [string, object] => [template, { entries: [{ key: 'a', template }] }]),
    ['a path as key', { entries: [{ key: '../a', template: 'x' }] }],
    ['the key of the operator', { entries: [{ key: 'api-key', template: 'x' }] }],
    ['20 kB', { entries: [{ key: 'a', template: 'x'.repeat(20_000) }] }],
    ...[
      'looptrace.dev/owner-uid',
      'a.looptrace.dev/x',
      'app.kubernetes.io/managed-by',
      'kubernetes.io/service-account.name',
    ].flatMap((name): [string, object][] => [
      [`the label ${name}`, { labels: [{ name, value: 'x' }] }],
      [`the annotation ${name}`, { annotations: [{ name, value: 'x' }] }],
    ]),
  ]

  let own: Awaited<ReturnType<typeof mallorysPlace>>
  beforeAll(async () => {
    own = await mallorysPlace()
  })

  test.each(refused)('%j is refused by the API server', async (_, secretTemplate) => {
    const spec = account(own.project, { secretTemplate })
    await expect(mallory.apply(own.accounts, { name: 'robot', kind, spec })).rejects.toThrow('422')
  })

  test('is text only: values come without code, and nothing in it is run', async () => {
    const template = 'A={{ apiKey }}\nB=$(id) `id` {{namespace}} $& $1'
    const entries = [
      { key: 'raw', template },
      { key: '.env', format: 'dotenv' },
    ]
    const spec = account(own.project, { secretTemplate: { entries } })
    await mallory.apply(own.accounts, { name: 'robot', kind, spec })
    await own.accounts.ready('robot')
    const data = (await own.secrets()).get('robot-key').data
    expect(data['raw']).toBe(`A=${data['api-key']}\nB=$(id) \`id\` ${own.namespace} $& $1`)
    expect(data['.env']).not.toMatch(/[$`\\]/)
  })
})

test('an invisible character in a name is shown in the status, and makes no account', async () => {
  const own = await mallorysPlace()
  const spec = account(own.project, { displayName: 'de\u200bploy' })
  await mallory.apply(own.accounts, { name: 'robot', kind: 'LooptraceServiceAccount', spec })
  const refused = await own.accounts.notReady('robot', 'ServiceRefused')
  expect(readyOf(refused)?.message).toContain('U+200B')
  expect(await own.accountsInService()).toEqual([])
})

test('rules with a hostile glob, label or number are refused, or cost little', async () => {
  const own = await mallorysPlace()
  const rules = own.resources('IncidentRule')
  const rule = { projectRef: { id: own.project }, severity: 'high', condition }
  const refused: object[] = [
    { condition: { ...condition, threshold: '1e999' } },
    { condition: { ...condition, threshold: 'NaN' } },
    { condition: { ...condition, window: '99999999999999999999999h' } },
    { condition: { ...condition, signal: "ttft_p95'); drop table tasks; --" } },
    { labels: { 'a\nb': 'x' } },
    { labels: { team: 'x'.repeat(100_000) } },
    { runbookUrl: 'javascript:alert(1)' },
    { notify: Array.from({ length: 1_000 }, (_, n) => `c${n}`) },
  ]
  for (const change of refused) {
    const started = performance.now()
    const applied = mallory.apply(rules, {
      ...{ name: 'evil', kind: 'IncidentRule', spec: { ...rule, ...change } },
    })
    await expect(applied, JSON.stringify(change).slice(0, 100)).rejects.toThrow('422')
    expect(performance.now() - started).toBeLessThan(5_000)
  }
})

const resources_many = budget({ test: 150, soak: 1_000 })

test(`${resources_many} resources without a grant hardly delay another namespace`, async () => {
  const [own, other] = [await mallorysPlace({ isGranted: false }), await productPlace(cluster)]
  const spec = account(other.project)
  const numbers = Array.from({ length: resources_many }, (_, n) => n)
  for (let at = 0; at < numbers.length; at += 50) {
    const some = numbers.slice(at, at + 50)
    await Promise.all(
      some.map((n) =>
        mallory.apply(own.accounts, { name: `r-${n}`, kind: 'LooptraceServiceAccount', spec }),
      ),
    )
  }
  const started = performance.now()
  await other.accounts.apply('robot', account(other.project))
  await other.accounts.ready('robot')
  process.stdout.write(
    `kind attacks: Ready beside ${resources_many} resources after ${Math.round(performance.now() - started)} ms\n`,
  )
  expect(performance.now() - started).toBeLessThan(20_000)
  await own.accounts.notReady(`r-${resources_many - 1}`, 'NotGranted')
  await eventually('only the other key is live', async () => (await other.liveKeys()).length === 1)
}, 180_000)
