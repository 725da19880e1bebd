import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import type { InstallationResource } from '../../src/operator/index.ts'
import { incidentRuleKind } from '../../src/operator/kinds/incident-rule/index.ts'
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

const operated = [incidentRuleKind, projectGrantKind]
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

/** A parsed body; tests read it without narrowing. */
type Json = ReturnType<typeof JSON.parse>

type Place = AsyncDisposable & {
  namespace: string
  project: string
  grant: string
  rules: Resources
  operator: TestOperator
  /** Applies a rule. */
  apply(name: string, more?: object): Promise<void>
  /** Waits until the service has the rule, and returns it. */
  stored(name: string): Promise<Json>
  /** Pretends an evaluation of the stored version of the rule. */
  evaluate(name: string, more?: object): Promise<void>
}

/** By default resyncs and first retries are due within half a second. */
async function createPlace(times = 60): Promise<Place> {
  const namespace = await server.namespace()
  const project = newId()
  const grantName = await grantProject(server, namespace, project, { revokeAfter: '30s' })
  const operator = startTestOperator({
    kubeconfig: await server.kubeconfig(operatorAccount),
    service_url: service.url,
    ...{ kinds: operated, times },
    settings: { namespaces: [namespace] },
  })
  const rules = resourcesOf(server, incidentRuleKind, namespace)
  const find = (name: string) =>
    [...service.rules.values()].find((one) => one.project_id === project && one.name === name)
  const stored = (name: string): Promise<Json> => eventually(`${name} is stored`, () => find(name))
  return {
    ...{ namespace, project, grant: grantName, rules, operator, stored },
    apply: async (name, more = {}) => {
      const { status, text } = await rules.apply(name, { ...specOf(project), ...more })
      expect([200, 201], text).toContain(status)
    },
    evaluate: async (name, more = {}) => {
      const rule = await stored(name)
      // Years ahead, because the operator's clock runs faster.
      const last_slot = '2099-01-01T00:00:00.000Z'
      const { version: rule_version } = rule
      rule.evaluation = { ...rule.evaluation, rule_version, last_slot, ...more }
    },
    [Symbol.asyncDispose]: () => operator.stop(),
  }
}

const specOf = (project: string) => ({
  ...{ projectRef: { id: project }, resyncPeriod: '30s', severity: 'high' },
  condition: { signal: 'ttft_p95', window: '10m', threshold: '4000', minSamples: 30 },
  labels: { team_name: 'a' },
})

/** Its times are long, because a busy machine may pause for a second. */
const lease = { lease_ms: 300_000, renew_deadline_ms: 240_000, retry_ms: 2_000 }

const conditionOf = (resource: Json, type: string) =>
  resource.status.conditions.find((one: { type: string }) => one.type === type)

describe('a rule', () => {
  test('is Ready, and its generation is observed, only after one evaluation', async () => {
    await using on = await createPlace()
    await on.apply('slow')
    const rule = await on.stored('slow')
    expect(rule).toMatchObject({
      ...{ severity: 'high', labels: { team_name: 'a' }, interval: '1m', mode: 'live' },
      condition: { signal: 'ttft_p95', window: '10m', op: 'gt', threshold: 4000 },
      managed_by: { kind: 'IncidentRule', namespace: on.namespace, name: 'slow' },
    })
    const waiting = await on.rules.until('slow', 'waits', (it) => {
      return conditionOf(it, 'Ready')?.reason === 'NotEvaluated'
    })
    expect(waiting.status.observedGeneration).toBe(0)
    expect(conditionOf(waiting, 'Reconciling').status).toBe('True')
    await on.evaluate('slow')
    const ready = await on.rules.ready('slow')
    expect(ready.status).toMatchObject({ observedGeneration: 1, ruleId: rule.rule_id, groups: 0 })
    expect(conditionOf(ready, 'Reconciling')).toBeUndefined()
    await on.apply('slow', { severity: 'critical' })
    const changed = await on.rules.until('slow', 'waits again', (it) => {
      return it.status.appliedGeneration === 2
    })
    expect(changed.status.observedGeneration).toBe(1)
    expect((await on.stored('slow')).version).toBe(2)
    await on.evaluate('slow')
    const again = await on.rules.ready('slow')
    expect(again.status.observedGeneration).toBe(2)
  })

  test('whose notify names no channel is not Ready until there is one', async () => {
    await using on = await createPlace()
    await on.apply('slow', { notify: ['on-call'] })
    const rule = await on.stored('slow')
    rule.missing_channels = ['on-call']
    await on.evaluate('slow')
    const missing = await on.rules.notReady('slow', 'ChannelNotFound')
    expect(readyOf(missing)?.message).toContain('No channel of the project has the name on-call')
    expect(conditionOf(missing, 'Reconciling').status).toBe('True')
    rule.missing_channels = []
    await on.rules.ready('slow')
  })

  test('that fires can be waited for with kubectl', async () => {
    await using on = await createPlace()
    await on.apply('slow')
    await on.evaluate('slow')
    await on.rules.ready('slow')
    await on.evaluate('slow', { firing: true, open_incidents: 2, groups: 2, overflow: 1 })
    const args = ['incrule/slow', '-n', on.namespace, '--for=condition=Firing', '--timeout=30s']
    expect(await server.kubectl(['wait', ...args])).toMatchObject({ status: 0 })
    const { status } = (await on.rules.read('slow')) ?? {}
    expect(status).toMatchObject({ openIncidents: 2, groups: 2, overflow: 1 })
    expect(status.effectiveSelector).toBe('all rows')
    const shown = await server.kubectl(['get', 'incrule', '-n', on.namespace])
    expect(shown.stdout).toMatch(/slow +True +Synced +high +True +True +2 /)
    await on.evaluate('slow', { healthy: false, last_error: 'query over 10 s' })
    const failed = await on.rules.until('slow', 'is not healthy', (it) => {
      return conditionOf(it, 'Healthy').status === 'False'
    })
    expect(failed.status.lastError).toBe('query over 10 s')
    expect(conditionOf(failed, 'Ready').status).toBe('True')
  })

  test('whose slots advance, and nothing else, writes no status', async () => {
    // It is read each minute.
    await using on = await createPlace(300)
    await on.apply('slow', { resyncPeriod: '1h' })
    await on.evaluate('slow')
    await on.rules.ready('slow')
    const reads = () => service.asked.filter((what) => what === 'GET rules').length
    const untilRead = async () => {
      const seen = reads()
      await eventually('the rule was read', () => reads() > seen + 1, { timeout_ms: 30_000 })
    }
    // A write is counted after its answer, so the status is seen before. The next read follows both.
    await untilRead()
    const before = on.operator.writes.length
    for (const minute of [1, 2, 3]) {
      await on.evaluate('slow', { last_slot: `2099-01-01T00:0${minute}:00.000Z` })
      await untilRead()
    }
    // The event of the creation may come after the status.
    const later = on.operator.writes.slice(before).filter((what) => what !== 'create events')
    expect(later).toEqual([])
  })

  test('that another caller changed is corrected', async () => {
    await using on = await createPlace()
    await on.apply('slow')
    await on.evaluate('slow')
    await on.rules.ready('slow')
    const rule = await on.stored('slow')
    Object.assign(rule, { severity: 'info', notify: ['elsewhere'] })
    await eventually('it is corrected', async () => (await on.stored('slow')).severity === 'high')
    expect(await on.stored('slow')).toMatchObject({ notify: [], version: 2 })
  })

  test('that the service refuses reports the sentence', async () => {
    await using on = await createPlace()
    const detail = '/notify/0: got "pager", expected the name of a channel'
    const body = { status: 400, code: 'invalid_request', detail }
    service.refusals.push({ on: 'POST rules', status: 400, body })
    service.refusals.push({
      ...{ on: 'POST rules', status: 409 },
      body: { status: 409, code: 'limit_reached', detail: 'The project has 1000 rules' },
    })
    await on.apply('slow')
    const refused = await on.rules.notReady('slow', 'ServiceRefused')
    expect(conditionOf(refused, 'Ready').message).toContain(detail)
    await on.rules.notReady('slow', 'LimitReached')
    await on.stored('slow')
  })
})

test('a resource that is restored without status finds its rule, and creates no second one', async () => {
  await using on = await createPlace()
  await on.operator.stop()
  const presence = { namespace: on.namespace, name: 'one', ...lease }
  const startInstalled = async () =>
    startTestOperator({
      kubeconfig: await server.kubeconfig(operatorAccount),
      service_url: service.url,
      kinds: operated,
      settings: { namespaces: [on.namespace], presence },
    })
  const first = await startInstalled()
  await on.apply('slow')
  const { rule_id, managed_by } = await on.stored('slow')
  await first.stop()
  const finalizers = {
    type: 'application/merge-patch+json',
    body: { metadata: { finalizers: [] } },
  }
  await server.tell('PATCH', on.rules.path('slow'), finalizers)
  await on.rules.remove('slow')
  await on.rules.gone('slow')
  await on.apply('slow')
  await using _next = await startInstalled()
  await eventually('the owner is the new resource', async () => {
    return (await on.stored('slow')).managed_by.uid !== managed_by.uid
  })
  const all = [...service.rules.values()].filter(({ project_id }) => project_id === on.project)
  expect(all.map((one) => one.rule_id)).toEqual([rule_id])
})

test('a lost answer to the first write creates no second rule, and another owner is left alone', async () => {
  await using on = await createPlace()
  const body = { status: 503, code: 'store_unavailable', detail: 'try again' }
  const others = { kind: 'IncidentRule', namespace: 'elsewhere', name: 'slow', uid: 'other' }
  const foreign = { project_id: on.project, name: 'foreign', version: 1, managed_by: others }
  service.rules.set('foreign', foreign)
  service.refusals.push({ on: 'GET rules', status: 503, body })
  await on.apply('slow')
  await on.stored('slow')
  await on.evaluate('slow')
  await on.rules.ready('slow')
  const own = [...service.rules.values()].filter(({ name }) => name === 'slow')
  expect(own.filter(({ project_id }) => project_id === on.project)).toHaveLength(1)
  expect(service.rules.get('foreign')).toBe(foreign)
  service.rules.delete('foreign')
})

describe('the end of a rule', () => {
  test('is its deletion; with Retain it stays without an owner', async () => {
    await using on = await createPlace()
    for (const name of ['gone', 'kept']) {
      await on.apply(name, { deletionPolicy: name === 'kept' ? 'Retain' : 'Delete' })
      await on.evaluate(name)
      await on.rules.ready(name)
    }
    await on.rules.remove('gone')
    await on.rules.remove('kept')
    await on.rules.gone('gone')
    await on.rules.gone('kept')
    const left = [...service.rules.values()].filter(({ project_id }) => project_id === on.project)
    expect(left).toMatchObject([{ name: 'kept', managed_by: null }])
  })

  test('comes with the end of its grant, and a new grant declares it again', async () => {
    await using on = await createPlace()
    await on.apply('slow', { deletionPolicy: 'Retain' })
    const { rule_id } = await on.stored('slow')
    await on.evaluate('slow')
    await on.rules.ready('slow')
    await grantsOf(server).remove(on.grant)
    await eventually('the rule is deleted', () => !service.rules.has(rule_id))
    await grantProject(server, on.namespace, on.project)
    expect((await on.stored('slow')).rule_id).not.toBe(rule_id)
  })
})

test('the operator applies the default rules of its installation and deletes former ones', async () => {
  await using on = await createPlace()
  await on.operator.stop()
  const others = 'made-by-a-person'
  await on.apply(others)
  const ruleOf = (name: string, severity: string) => ({
    name,
    spec: { ...specOf(on.project), severity },
  })
  const startWith = async (default_rules: InstallationResource[]) =>
    startTestOperator({
      kubeconfig: await server.kubeconfig(operatorAccount),
      service_url: service.url,
      kinds: operated,
      settings: { namespaces: [on.namespace], namespace: on.namespace, default_rules },
    })
  {
    await using _first = await startWith([ruleOf('slow', 'high'), ruleOf('costly', 'low')])
    await on.stored('slow')
    await on.stored('costly')
  }
  // A field that the installation leaves out is the user's.
  const merge = { type: 'application/merge-patch+json', body: { spec: { notify: ['pager'] } } }
  await server.tell('PATCH', on.rules.path('slow'), merge)
  await using _second = await startWith([ruleOf('slow', 'info')])
  await on.rules.gone('costly')
  await eventually('the changed rule is applied', async () => {
    const { severity, notify } = await on.stored('slow')
    return severity === 'info' && notify[0] === 'pager'
  })
  expect(await on.rules.read(others)).toBeDefined()
})

describe('a spec', () => {
  test.each([
    ['threshold: expected 0 to 1', { signal: 'error_rate', window: '10m', threshold: '90' }],
    ['expected a duration from 1m to 30d', { signal: 'cost', window: '40d', threshold: '9' }],
    ['expected a duration from 1m to 30d', { signal: 'cost', window: '999h', threshold: '9' }],
    ['expected a duration from 1m to 30d', { signal: 'cost', window: '5s', threshold: '9' }],
  ])('with %s is refused by the API server: %o', async (message, condition) => {
    await using on = await createPlace()
    const spec = { projectRef: { id: on.project }, severity: 'high', condition }
    const refused = await on.rules.apply('wrong', spec)
    expect([refused.status, refused.text]).toEqual([422, expect.stringContaining(message)])
  })

  test('that can never fire, or that two rules would share, is refused', async () => {
    await using on = await createPlace()
    const never = { condition: undefined, burnRate: burning, severity: 'high' }
    await on.apply('never', never)
    await on.rules.notReady('never', 'InvalidSpec')
    await on.apply('slow')
    await on.stored('slow')
    await on.apply('same', { ruleName: 'slow' })
    await on.rules.notReady('same', 'NameTaken')
    const dotted = await on.rules.apply('a.b', specOf(on.project))
    expect([dotted.status, dotted.text]).toEqual([422, expect.stringContaining('set ruleName')])
  })

  const burning = {
    ...{ signal: 'failure_rate', objective: '0.5' },
    tiers: [{ factor: '14.4', long: '1h', short: '5m' }],
  }
})
