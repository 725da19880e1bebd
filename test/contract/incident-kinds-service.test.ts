import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { incidentRuleKind } from '../../src/operator/kinds/incident-rule/index.ts'
import { notificationChannelKind } from '../../src/operator/kinds/notification-channel/index.ts'
import { sql } from '../../src/platform/relational/index.ts'
import { eventually } from '../support/eventually.ts'
import { apiServerStartTimeoutMs } from '../support/kube/api-server.ts'
import {
  type ProductCluster,
  productOperator,
  productPlace,
  sharedProductCluster,
} from '../support/kube/product-cluster.ts'
import { readyOf, resourcesOf } from '../support/kube/resources.ts'

/** The kinds of incidents with the routes of the product. */
let cluster: ProductCluster

beforeAll(async () => {
  cluster = await sharedProductCluster()
}, apiServerStartTimeoutMs)
afterAll(() => cluster?.[Symbol.asyncDispose]())

const channelsPath = '/api/v2/observability/incidents/channels'
const rulesPath = '/api/v2/observability/incidents/rules'

async function createPlace() {
  const place = await productPlace(cluster)
  const about = { project_id: place.project }
  return {
    ...place,
    operator: await productOperator(cluster, [place.namespace]),
    rules: resourcesOf(cluster.server, incidentRuleKind, place.namespace),
    call: (method: string, path: string, body?: object) =>
      cluster.service.call(method, path, { ...about, ...(body && { body }) }),
    channels: resourcesOf(cluster.server, notificationChannelKind, place.namespace),
    channelsInService: async () =>
      (await cluster.service.call('GET', channelsPath, about)).body.channels,
    webhook: {
      ...{ projectRef: { id: place.project }, resyncPeriod: '30s' },
      webhook: {
        url: 'https://in.example.com/hook',
        secretRef: { name: 'hook', key: 'value' },
      },
    },
    secret: (name: string, value: string) =>
      putChannelSecret(cluster.server, place.namespace, { name, value }),
    rulesInService: async () => (await cluster.service.call('GET', rulesPath, about)).body.rules,
  }
}

/** Writes a Secret that channels may use. */
async function putChannelSecret(
  server: ProductCluster['server'],
  namespace: string,
  { name, value }: { name: string; value: string },
) {
  const metadata = { name, namespace, labels: { 'looptrace.dev/channel': 'true' } }
  const path = `/api/v1/namespaces/${namespace}/secrets/${name}?fieldManager=person&force=true`
  const body = { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { value } }
  await server.tell('PATCH', path, { body })
}

const common = (project: string) => ({
  ...{ projectRef: { id: project }, resyncPeriod: '30s', severity: 'high' },
})
const slow = (project: string, more: object = {}) => ({
  ...common(project),
  condition: { signal: 'ttft_p95', window: '10m', threshold: '4000', minSamples: 30 },
  ...more,
})
const looping = (project: string) => ({
  ...common(project),
  event: { match: { source: 'finding', kinds: ['loop'], minSeverity: 'high' } },
})

/** Writes what an evaluator writes after the first slot. */
async function evaluate(rule: { rule_id: string; version: number }, project_id: string) {
  const values = {
    ...{ rule_id: rule.rule_id, project_id, rule_version: rule.version, groups: 3 },
    last_slot: new Date('2099-01-01T00:00:00.000Z'),
  }
  await cluster.service.db
    .insertInto('rule_evaluations')
    .values(values)
    .onConflict((conflict) => conflict.column('rule_id').doUpdateSet(values))
    .execute()
}

test('a rule is declared, follows its spec, and is deleted', async () => {
  const on = await createPlace()
  await using _ = on.operator
  await on.rules.apply('slow', slow(on.project, { selector: { environment: ['production'] } }))
  const [rule] = await eventually('it is stored', async () => {
    const rules = await on.rulesInService()
    return rules.length > 0 ? rules : undefined
  })
  expect(rule).toMatchObject({
    ...{ name: 'slow', kind: 'condition', version: 1, severity: 'high' },
    managed_by: { kind: 'IncidentRule', namespace: on.namespace, name: 'slow' },
  })
  await evaluate(rule, on.project)
  const { status } = await on.rules.ready('slow')
  expect(status).toMatchObject({
    ...{ ruleId: rule.rule_id, groups: 3, observedGeneration: 1 },
    effectiveSelector: 'environment=production',
  })
  const refused = await on.call('DELETE', `${rulesPath}/${rule.rule_id}`)
  expect([refused.status, refused.body.code]).toEqual([409, 'managed_by_kubernetes'])
  await on.rules.apply('slow', slow(on.project, { severity: 'low' }))
  await eventually('it has changed', async () => (await on.rulesInService())[0].severity === 'low')
  // Nothing differs after a read-back, so the version stays.
  const [changed] = await on.rulesInService()
  await evaluate(changed, on.project)
  await on.rules.ready('slow')
  expect((await on.rulesInService())[0].version).toBe(2)
  await on.rules.remove('slow')
  await on.rules.gone('slow')
  expect(await on.rulesInService()).toEqual([])
})

test('an event rule is Ready at once; Retain keeps a rule for people', async () => {
  const on = await createPlace()
  await using _ = on.operator
  await on.rules.apply('loops', { ...looping(on.project), deletionPolicy: 'Retain' })
  await on.rules.ready('loops')
  const [rule] = await on.rulesInService()
  await cluster.service.db
    .updateTable('incident_rules')
    .set({ spec: sql`spec || '{"severity": "info"}'::jsonb` })
    .where('id', '=', rule.rule_id)
    .execute()
  await eventually('it is corrected', async () => {
    const [{ severity, version }] = await on.rulesInService()
    return severity === 'high' && version === 2
  })
  await on.rules.remove('loops')
  await on.rules.gone('loops')
  expect(await on.rulesInService()).toMatchObject([{ name: 'loops', managed_by: null }])
  expect((await on.call('DELETE', `${rulesPath}/${rule.rule_id}`)).status).toBe(204)
})

test('a name of a person, or of another namespace, is not taken over, nor is its owner shown', async () => {
  const [on, other] = [await createPlace(), await createPlace()]
  await using _one = on.operator
  await using _other = other.operator
  const { body } = await on.call('POST', rulesPath, {
    ...{ name: 'slow', severity: 'high' },
    event: { match: { source: 'finding' } },
  })
  await on.rules.apply('slow', slow(on.project))
  const taken = await on.rules.notReady('slow', 'NameTaken')
  expect(readyOf(taken).message).not.toContain(other.namespace)
  expect(await on.rulesInService()).toMatchObject([{ rule_id: body.rule_id, managed_by: null }])
  await on.rules.remove('slow')
  await on.rules.gone('slow')
  expect(await on.rulesInService()).toHaveLength(1)
})

describe('a channel', () => {
  const bytes = (letter: string) => `whsec_${Buffer.alloc(32, letter).toString('base64')}`

  test('is declared with its Secret, keeps the last value while it rotates, and is deleted', async () => {
    const on = await createPlace()
    await using _ = on.operator
    await on.secret('hook', bytes('a'))
    await on.channels.apply('on-call', on.webhook)
    const { status } = await on.channels.ready('on-call')
    const [channel] = await on.channelsInService()
    expect(channel).toMatchObject({
      ...{ channel_id: status.channelId, type: 'webhook', disabled: false, version: 1 },
      // People see the host only.
      webhook: { url: 'https://in.example.com/…' },
      secrets: { url: { set: true }, secret: { set: true }, previous_secret: { set: false } },
    })
    await on.secret('hook', bytes('b'))
    await eventually('the old secret is the previous one', async () => {
      const [{ secrets, version }] = await on.channelsInService()
      return secrets.previous_secret.set && version === 2
    })
    await on.channels.ready('on-call')
    await on.channels.apply('on-call', {
      ...on.webhook,
      templates: { title: '{{severity}}: {{title}}' },
      webhook: { ...on.webhook.webhook, url: 'https://in.example.com/other' },
    })
    await eventually('the spec is followed', async () => {
      return (await on.channelsInService())[0].version === 3
    })
    await on.channels.ready('on-call')
    expect(on.operator.writes.filter((what) => what.startsWith('PUT'))).toHaveLength(2)
    await on.channels.remove('on-call')
    await on.channels.gone('on-call')
    expect(await on.channelsInService()).toEqual([])
  })

  test('whose receiver is gone stays disabled until a person resumes it', async () => {
    const on = await createPlace()
    await using _ = on.operator
    await on.secret('hook', bytes('a'))
    await on.channels.apply('on-call', on.webhook)
    const { status } = await on.channels.ready('on-call')
    await cluster.service.db
      .updateTable('notification_channels')
      .set({ disabled_at: new Date(), disabled_reason: 'The receiver answered 410 Gone.' })
      .where('id', '=', status.channelId)
      .execute()
    await on.channels.notReady('on-call', 'Disabled')
    const reads = () => on.operator.writes.length
    const before = reads()
    await on.channels.until('on-call', 'reports it twice', (it) =>
      it.status.conditions.some(({ reason }: { reason: string }) => reason === 'Disabled'),
    )
    expect(reads()).toBe(before)
    expect((await on.channelsInService())[0]).toMatchObject({ disabled: true })
    const annotations = { 'looptrace.dev/resume': 'moved to another host' }
    await on.channels.apply('on-call', on.webhook, { annotations })
    await on.channels.ready('on-call')
    expect((await on.channelsInService())[0]).toMatchObject({ disabled: false })
  })

  test('with a value that the service refuses shows no part of it', async () => {
    const on = await createPlace()
    await using _ = on.operator
    const value = 'hunter2-hunter2-hunter2'
    await on.secret('hook', value)
    await on.channels.apply('on-call', on.webhook)
    const refused = await on.channels.notReady('on-call', 'ServiceRefused')
    expect(readyOf(refused).message).toContain('/webhook/secret')
    expect(JSON.stringify(refused) + on.operator.logged()).not.toContain('hunter2')
    expect(await on.channelsInService()).toEqual([])
    await on.secret('hook', bytes('a'))
    await on.channels.ready('on-call')
  })
})
