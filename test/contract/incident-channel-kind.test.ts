import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { notificationChannelKind } from '../../src/operator/kinds/notification-channel/index.ts'
import { projectGrantKind } from '../../src/operator/kinds/project-grant/index.ts'
import { eventually } from '../support/eventually.ts'
import {
  type ApiServer,
  apiServerStartTimeoutMs,
  operatorAccount,
} from '../support/kube/api-server.ts'
import { grantProject, grantsOf } from '../support/kube/grants.ts'
import { type IncidentService, startIncidentService } from '../support/kube/incident-service.ts'
import { startTestOperator, type TestOperator } from '../support/kube/operator.ts'
import { type Resources, readyOf, resourcesOf } from '../support/kube/resources.ts'
import { sharedApiServer } from '../support/kube/shared-api-server.ts'

const operated = [notificationChannelKind, projectGrantKind]
const secretValue = 'whsec_c2VjcmV0IG9mIHRoZSByZWNlaXZlcg=='
let server: ApiServer
let service: IncidentService

beforeAll(async () => {
  server = await sharedApiServer(operated)
  service = await startIncidentService()
}, apiServerStartTimeoutMs)
afterAll(async () => {
  await service?.[Symbol.asyncDispose]()
  await server?.[Symbol.asyncDispose]()
})

type Place = AsyncDisposable & {
  namespace: string
  project: string
  grant: string
  channels: Resources
  operator: TestOperator
  /** Applies a webhook channel with a Secret. */
  apply(name: string, more?: object): Promise<void>
  secret(name: string, value: string, labels?: object): Promise<void>
  /** The channels of the project in the service. */
  stored(): ReturnType<typeof JSON.parse>[]
}

async function createPlace(): Promise<Place> {
  const namespace = await server.namespace()
  const project = newId()
  const grantName = await grantProject(server, namespace, project, { revokeAfter: '30s' })
  const operator = startTestOperator({
    kubeconfig: await server.kubeconfig(operatorAccount),
    service_url: service.url,
    kinds: operated,
    // Resyncs and first retries are due within half a second.
    times: 60,
    settings: { namespaces: [namespace] },
  })
  const channels = resourcesOf(server, notificationChannelKind, namespace)
  return {
    ...{ namespace, project, grant: grantName, operator, channels },
    apply: async (name, more = {}) => {
      const spec = { ...webhookOf(project), ...more }
      const { status, text } = await channels.apply(name, spec)
      expect([200, 201], text).toContain(status)
    },
    secret: (name, value, labels = { 'looptrace.dev/channel': 'true' }) =>
      putSecret(namespace, name, { value, labels }),
    stored: () => [...service.channels.values()].filter(({ project_id }) => project_id === project),
    [Symbol.asyncDispose]: () => operator.stop(),
  }
}

const webhookOf = (project: string) => ({
  ...{ projectRef: { id: project }, resyncPeriod: '30s' },
  webhook: { url: 'https://in.example.com', secretRef: { name: 'hook', key: 'value' } },
})

async function putSecret(
  namespace: string,
  name: string,
  { value, labels }: { value: string; labels: object },
) {
  const metadata = { name, namespace, labels }
  const path = `/api/v1/namespaces/${namespace}/secrets/${name}?fieldManager=person&force=true`
  const body = { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { value } }
  await server.tell('PATCH', path, { body })
}

const conditionOf = (resource: ReturnType<typeof JSON.parse>, type: string) =>
  resource.status.conditions.find((one: { type: string }) => one.type === type)

describe('a channel', () => {
  test('is written with the value of its Secret, and follows both', async () => {
    await using on = await createPlace()
    await on.secret('hook', `${secretValue}\n`)
    await on.apply('on-call', { fallback: 'mail' })
    const { status, metadata } = await on.channels.ready('on-call')
    const [channel] = on.stored()
    expect(channel).toMatchObject({
      ...{ name: 'on-call', fallback: 'mail', disabled: false, version: 1 },
      webhook: { url: 'https://in.example.com' },
      values: { secret: secretValue },
      managed_by: { kind: 'NotificationChannel', namespace: on.namespace, name: 'on-call' },
    })
    expect(status.channelId).toBe(channel.channel_id)
    expect(metadata.annotations['looptrace.dev/external-id']).toBe(channel.channel_id)
    await on.secret('hook', 'whsec_b3RoZXI=')
    await eventually(
      'the new value is stored',
      () => on.stored()[0]?.values.secret === 'whsec_b3RoZXI=',
    )
    await on.apply('on-call', { fallback: 'other' })
    await eventually('the spec is stored', () => on.stored()[0]?.fallback === 'other')
    expect(on.stored()).toHaveLength(1)
  })

  test('that another caller changed is corrected, once', async () => {
    await using on = await createPlace()
    await on.secret('hook', secretValue)
    await on.apply('on-call')
    await on.channels.ready('on-call')
    const [channel] = on.stored()
    channel.webhook.url = 'https://elsewhere.example.com'
    await eventually(
      'the URL is corrected',
      () => on.stored()[0]?.webhook.url === 'https://in.example.com',
    )
    await on.channels.ready('on-call')
    const writes = () => service.asked.filter((what) => what === 'PUT channels').length
    const before = writes()
    await eventually('it was read again', async () => {
      const reads = service.asked.length
      return eventually('more reads', () => service.asked.length > reads + 4).then(() => true)
    })
    expect(writes()).toBe(before)
  })

  test('reports the last delivery, and that its receiver is gone, without enabling it again', async () => {
    await using on = await createPlace()
    await on.secret('hook', secretValue)
    await on.apply('on-call')
    const first = await on.channels.ready('on-call')
    expect(conditionOf(first, 'Delivering')).toMatchObject({
      status: 'Unknown',
      reason: 'NoDelivery',
    })
    const [channel] = on.stored()
    const at = '2026-11-23T00:00:00.000Z'
    const deliver = (status: number | null, error: string | null) =>
      service.deliveries.set(channel.channel_id, [{ started_at: at, status, error }])
    const delivering = (reason: string) =>
      on.channels.until('on-call', reason, (it) => conditionOf(it, 'Delivering').reason === reason)
    deliver(204, null)
    expect((await delivering('Delivered')).status.lastDelivery).toEqual({ time: at, status: 204 })
    deliver(null, `connect to ${secretValue} failed`)
    expect(JSON.stringify(await delivering('DeliveryFailed'))).not.toContain(secretValue)
    Object.assign(channel, { disabled: true, disabled_reason: 'the receiver answered 410' })
    await on.channels.notReady('on-call', 'Disabled')
    await on.channels.until('on-call', 'stays disabled', (it) => {
      return conditionOf(it, 'Delivering').reason === 'Disabled'
    })
    expect(on.stored()[0]).toMatchObject({ disabled: true, version: 1 })
    await on.channels.apply('on-call', webhookOf(on.project), {
      annotations: { 'looptrace.dev/resume': 'repaired' },
    })
    const ready = await on.channels.ready('on-call')
    expect(on.stored()[0]).toMatchObject({ disabled: false, version: 2 })
    await eventually('the annotation is removed', async () => {
      const { metadata } = (await on.channels.read('on-call')) ?? ready
      return metadata.annotations['looptrace.dev/resume'] === undefined
    })
  })

  test('is deleted with its resource, and stays without an owner with Retain', async () => {
    await using on = await createPlace()
    await on.secret('hook', secretValue)
    await on.apply('gone')
    await on.apply('kept', { deletionPolicy: 'Retain' })
    await on.channels.ready('gone')
    await on.channels.ready('kept')
    await on.channels.remove('gone')
    await on.channels.remove('kept')
    await on.channels.gone('gone')
    await on.channels.gone('kept')
    expect(on.stored()).toMatchObject([{ name: 'kept', managed_by: null }])
  })

  test('whose grant ends is deleted, also with Retain', async () => {
    await using on = await createPlace()
    await on.secret('hook', secretValue)
    await on.apply('on-call', { deletionPolicy: 'Retain' })
    await on.channels.ready('on-call')
    await grantsOf(server).remove(on.grant)
    await eventually('the channel is deleted', () => on.stored().length === 0)
  })
})

describe('an attacker', () => {
  test('does not get a Secret without the label, nor learns whether it exists', async () => {
    await using on = await createPlace()
    const value = 'the password of the database'
    await on.secret('hook', value, {})
    await on.apply('borrowed')
    const refused = await on.channels.notReady('borrowed', 'SecretNotUsable')
    expect(readyOf(refused).message).toContain(
      'kubectl label secret hook looptrace.dev/channel=true',
    )
    await on.secret('other', value, { 'looptrace.dev/channel': 'false' })
    const missing = {
      webhook: { url: 'https://eve.example.com', secretRef: { name: 'absent', key: 'value' } },
    }
    await on.apply('absent', missing)
    const absent = await on.channels.notReady('absent', 'SecretNotUsable')
    const same = (resource: typeof absent, name: string) =>
      readyOf(resource).message.replaceAll(name, '…')
    expect(same(absent, 'absent')).toBe(same(refused, 'hook'))
    await on.apply('relabelled', {
      webhook: { url: 'https://eve.example.com', secretRef: { name: 'other', key: 'value' } },
    })
    await on.channels.notReady('relabelled', 'SecretNotUsable')
    expect(on.stored()).toEqual([])
    await on.secret('hook', value)
    await on.channels.ready('borrowed')
  })

  test('does not get a Secret of another namespace', async () => {
    await using on = await createPlace()
    await using other = await createPlace()
    await other.secret('hook', secretValue)
    await on.apply('borrowed')
    await on.channels.notReady('borrowed', 'SecretNotUsable')
    const ref = { name: `${other.namespace}/hook`, key: 'value', namespace: other.namespace }
    const { status } = await on.channels.apply('named', {
      ...webhookOf(on.project),
      webhook: { url: 'https://in.example.com', secretRef: ref },
    })
    expect(status).toBeGreaterThanOrEqual(400)
    expect(on.stored()).toEqual([])
  })

  test('finds the value of a Secret in no status, event or log, also if the service quotes it', async () => {
    await using on = await createPlace()
    const quoted = (detail: string, status = 400) => ({
      ...{ on: 'POST channels', status },
      body: { status, code: 'invalid_request', detail },
    })
    service.refusals.push(
      quoted(`webhook.secret: expected a secret, got ${secretValue}`),
      quoted(`webhook.secret: got ${secretValue.slice(0, 12)}…`),
      quoted(secretValue, 409),
    )
    await on.secret('hook', secretValue)
    await on.apply('on-call')
    await on.channels.ready('on-call')
    const events = await server.tell(
      'GET',
      `/apis/events.k8s.io/v1/namespaces/${on.namespace}/events`,
    )
    const seen = [
      JSON.stringify(await on.channels.read('on-call')),
      JSON.stringify(events),
      on.operator.logged(),
    ]
    for (const text of seen) expect(text).not.toContain(secretValue.slice(0, 12))
    expect(seen[1]).toContain('ServiceRefused')
  })

  test('takes no name of another channel, and keeps no channel of an edited annotation', async () => {
    await using on = await createPlace()
    await on.secret('hook', secretValue)
    await on.apply('one')
    await on.channels.ready('one')
    const [one] = on.stored()
    await on.channels.apply(
      'two',
      { ...webhookOf(on.project), channelName: 'one' },
      {
        annotations: { 'looptrace.dev/external-id': one.channel_id },
      },
    )
    await on.channels.notReady('two', 'NameTaken')
    await on.channels.remove('two')
    await on.channels.gone('two')
    expect(on.stored()).toMatchObject([{ name: 'one', version: 1 }])
  })
})

test('a spec that the service would refuse is refused by the API server', async () => {
  const channels = resourcesOf(server, notificationChannelKind, await server.namespace())
  const common = { projectRef: { id: newId() } }
  const email = { to: ['ada@example.com'] }
  const faults: [object, string, string][] = [
    [{}, 'none', 'expected exactly one of'],
    [{ email, slack: { secretRef: { name: 'a', key: 'b' } } }, 'two', 'expected exactly one of'],
    [{ email }, 'not.a.label', 'set channelName'],
    [{ email: { to: ['nobody'] } }, 'address', 'spec.email.to'],
    [{ webhook: { url: 'ftp://x.example.com' } }, 'scheme', 'spec.webhook.url'],
  ]
  for (const [spec, name, message] of faults) {
    const { status, text } = await channels.apply(name, { ...common, ...spec })
    expect([status, text]).toEqual([422, expect.stringContaining(message)])
  }
})
