import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { digestPolicy } from '../../src/capabilities/certification/policy/policy.ts'
import { newId } from '../../src/kernel/ids.ts'
import { projectGrantKind } from '../../src/operator/kinds/project-grant/index.ts'
import { releasePolicyKind } from '../../src/operator/kinds/release-policy/index.ts'
import { releasePolicySpec } from '../../src/operator/kinds/release-policy/spec.ts'
import { eventually } from '../support/eventually.ts'
import {
  type ApiServer,
  apiServerStartTimeoutMs,
  operatorAccount,
} from '../support/kube/api-server.ts'
import { grantProject, grantsOf } from '../support/kube/grants.ts'
import type { OperatedService } from '../support/kube/operated-service.ts'
import { startTestOperator, type TestOperator } from '../support/kube/operator.ts'
import { eventReasons, type Resources, readyOf, resourcesOf } from '../support/kube/resources.ts'
import { sharedApiServer } from '../support/kube/shared-api-server.ts'
import { sharedService } from '../support/kube/shared-service.ts'

const root = '/api/v1/reliability/phase10/release-policies'
const kind = releasePolicyKind
const operated = [kind, projectGrantKind]
let server: ApiServer
let service: OperatedService

beforeAll(async () => {
  server = await sharedApiServer(operated)
  service = await sharedService()
}, apiServerStartTimeoutMs)
afterAll(() => server?.[Symbol.asyncDispose]())

/** A parsed body; tests read it without narrowing. */
type Json = ReturnType<typeof JSON.parse>

type Place = AsyncDisposable & {
  namespace: string
  project: string
  grant: string
  policies: Resources
  operator: TestOperator
  /** The policy of an id as the service returns it; undefined if there is none. */
  shown(policy_id?: string): Promise<Json>
}

/** A namespace and a project for one test, and an operator for them. */
async function createPlace(project?: string): Promise<Place> {
  const namespace = await server.namespace()
  const project_id = project ?? (await service.project())
  const grantName = await grantProject(server, namespace, project_id, { revokeAfter: '30s' })
  const operator = startTestOperator({
    kubeconfig: await server.kubeconfig(operatorAccount),
    service_url: service.url,
    service_key: service.operator_key,
    kinds: operated,
    // Resyncs and first retries are due within half a second.
    times: 60,
    settings: { namespaces: [namespace] },
  })
  return {
    ...{ namespace, operator, project: project_id, grant: grantName },
    policies: resourcesOf(server, kind, namespace),
    shown: async (policy_id = 'default') => {
      const { status, body } = await service.call('GET', `${root}/${policy_id}`, { project_id })
      return status === 404 ? undefined : body
    },
    [Symbol.asyncDispose]: () => operator.stop(),
  }
}

const gates = [{ metric: 'task_success_rate', kind: 'absolute', threshold: '0.95' }]
const specOf = (project: string, more: object = {}) => ({
  ...{ projectRef: { id: project }, resyncPeriod: '30s', gates },
  ...more,
})

describe('a policy', () => {
  test('is applied with every field, and the status has its version and digest', async () => {
    await using on = await createPlace()
    const spec = specOf(on.project, {
      gates: [
        ...gates,
        { metric: 'loop_rate', kind: 'zero_tolerance', tier: 'supporting', maxRate: '0.01' },
        {
          ...{ metric: 'unresolved_failure_rate', kind: 'regression', tier: 'advisory' },
          ...{ maxDrop: '0.02', minSamples: 30 },
        },
        { metric: 'eval_pass_rate', kind: 'pass_k', threshold: '0.8', k: 3 },
      ],
      ...{ confidence: '0.99', maxAge: '3d', validFor: '14d', maxAttempts: 3, minClusters: 30 },
    })
    expect((await on.policies.apply('default', spec)).status).toBe(201)
    const { status, metadata } = await on.policies.ready('default')
    const shown = await on.shown()
    expect(shown).toMatchObject({
      ...{ version: 1, built_in: false, updated_by: expect.stringMatching(/^operator:/) },
      managed_by: {
        ...{ kind: 'ReleasePolicy', namespace: on.namespace, name: 'default' },
        uid: metadata.uid,
      },
      policy: {
        ...{ confidence: 0.99, max_age: '3d', valid_for: '14d' },
        ...{ max_attempts: 3, min_clusters: 30 },
        gates: [
          { metric: 'task_success_rate', threshold: 0.95, tier: 'critical', min_samples: 1 },
          { metric: 'loop_rate', max_rate: 0.01, tier: 'supporting' },
          { metric: 'unresolved_failure_rate', max_drop: 0.02, min_samples: 30 },
          { metric: 'eval_pass_rate', threshold: 0.8, k: 3 },
        ],
      },
    })
    expect(status).toMatchObject({
      ...{ projectId: on.project, policyId: 'default', version: 1, appliedGeneration: 1 },
      digest: digestPolicy(shown.policy),
    })
    const row = await server.kubectl(['get', 'relpol', '-n', on.namespace])
    expect(row.stdout).toMatch(/default +True +Synced +default +1 /)
    await eventually('an event', async () =>
      (await eventReasons(server, on.namespace, 'default')).includes('Created'),
    )
  })

  test('is changed by the resource only, and a resync without changes writes nothing', async () => {
    await using on = await createPlace()
    await on.policies.apply('default', specOf(on.project))
    await on.policies.ready('default')
    const { policy, managed_by } = await on.shown()
    const body = { gates: policy.gates }
    for (const method of ['PUT', 'DELETE']) {
      const refused = await service.call(method, `${root}/default`, {
        ...{ project_id: on.project, ...(method === 'PUT' && { body }) },
      })
      expect([refused.status, refused.body.code]).toEqual([409, 'managed_by_kubernetes'])
      expect(refused.body.detail).toContain(`ReleasePolicy ${on.namespace}/default`)
    }
    await on.policies.apply('default', specOf(on.project, { maxAttempts: 2 }))
    expect((await on.policies.ready('default')).status).toMatchObject({
      ...{ version: 2, appliedGeneration: 2 },
    })
    // Another client with the key of the operator, such as an operator that is no leader any more.
    const changed = await service.call('PUT', `${root}/default`, {
      ...{ project_id: on.project, key: service.operator_key },
      body: { ...body, max_attempts: 20, managed_by },
    })
    expect(changed.body.version).toBe(3)
    const { status } = await on.policies.until('default', 'is corrected', (it) => {
      return it.status.version === 4
    })
    expect(status.appliedGeneration).toBe(2)
    expect((await on.shown()).policy.max_attempts).toBe(2)
    await eventually('an event', async () =>
      (await eventReasons(server, on.namespace, 'default')).includes('DriftCorrected'),
    )
  })

  test('that a person made is taken over, with its versions', async () => {
    await using on = await createPlace()
    const body = { gates: [{ metric: 'loop_rate', kind: 'absolute', threshold: 0.1 }] }
    await service.call('PUT', `${root}/checkout`, { project_id: on.project, body })
    await on.policies.apply('mine', specOf(on.project, { policyId: 'checkout' }))
    const { status } = await on.policies.ready('mine')
    expect(status).toMatchObject({ policyId: 'checkout', version: 2 })
    const first = await service.call('GET', `${root}/checkout/versions/1`, {
      project_id: on.project,
    })
    expect(first.body.policy.gates[0].metric).toBe('loop_rate')
    const renamed = await on.policies.apply('mine', specOf(on.project, { policyId: 'other' }))
    expect([renamed.status, renamed.text]).toEqual([
      ...[422, expect.stringContaining('policyId is immutable')],
    ])
  })

  test('of an id that another namespace declares waits, and never overwrites', async () => {
    await using on = await createPlace()
    await using other = await createPlace(on.project)
    await on.policies.apply('default', specOf(on.project))
    await on.policies.ready('default')
    await other.policies.apply('default', specOf(on.project, { maxAttempts: 1 }))
    const waits = await other.policies.notReady('default', 'NameTaken')
    expect(readyOf(waits)?.['message']).toContain(`ReleasePolicy ${on.namespace}/default`)
    expect(await on.shown()).toMatchObject({ version: 1, policy: { max_attempts: 5 } })
    await other.policies.remove('default')
    await other.policies.gone('default')
    expect(await on.shown()).toMatchObject({ version: 1 })
    // Without a grant of its own a namespace names no project.
    await using stranger = await createPlace()
    await stranger.policies.apply('default', specOf(on.project))
    await stranger.policies.notReady('default', 'NotGranted')
  })
})

describe('the end of a resource', () => {
  test('deletes the policy, and keeps its versions', async () => {
    await using on = await createPlace()
    await on.policies.apply('default', specOf(on.project))
    await on.policies.ready('default')
    await on.policies.remove('default')
    await on.policies.gone('default')
    expect(await on.shown()).toBeUndefined()
    const about = { project_id: on.project }
    expect((await service.call('GET', `${root}/default/versions/1`, about)).status).toBe(200)
  })

  test('leaves the policy to the admins of the project, with Retain', async () => {
    await using on = await createPlace()
    await on.policies.apply('default', specOf(on.project, { deletionPolicy: 'Retain' }))
    await on.policies.ready('default')
    await on.policies.remove('default')
    await on.policies.gone('default')
    expect(await on.shown()).toMatchObject({ version: 1, managed_by: null })
  })

  test('of its grant leaves the policy, too', async () => {
    await using on = await createPlace()
    await on.policies.apply('default', specOf(on.project))
    await on.policies.ready('default')
    await grantsOf(server).remove(on.grant)
    await on.policies.notReady('default', 'NotGranted')
    await eventually('its owner is removed', async () => (await on.shown()).managed_by === null, {
      timeout_ms: 60_000,
    })
    expect(await on.shown()).toMatchObject({ version: 1 })
  })
})

test('values that no service accepts are refused by the API server, or by lint', async () => {
  const namespace = await server.namespace()
  const policies = resourcesOf(server, kind, namespace)
  const refused: [object, RegExp][] = [
    [{ gates: [] }, /at least 1 item/],
    [{ gates: [{ metric: 'success', kind: 'absolute', threshold: '1' }] }, /Unsupported value/],
    [{ gates: [{ metric: 'loop_rate', kind: 'absolute' }] }, /threshold: expected for the kinds/],
    [
      { gates: [{ metric: 'loop_rate', kind: 'absolute', threshold: '0.1', k: 2 }] },
      /k: expected for the kinds pass_k/,
    ],
    [
      { gates: gates.map((gate) => ({ ...gate, tier: 'advisory' })) },
      /at least one critical or supporting gate/,
    ],
    [{ maxAttempts: 21 }, /less than or equal to 20/],
    [{ policyId: 'A' }, /policyId/],
  ]
  for (const [change, message] of refused) {
    const { status, text } = await policies.apply('p', specOf(newId(), change))
    expect([status, text]).toEqual([422, expect.stringMatching(message)])
  }
  const lint = (change: object) =>
    releasePolicySpec
      .safeParse({ projectRef: { name: 'a' }, gates, ...change })
      .error?.issues.map(({ path }) => path.join('.'))
  expect(lint({})).toBeUndefined()
  expect(lint({ gates: [...gates, ...gates] })).toEqual(['gates.1'])
  expect(lint({ confidence: '95' })).toEqual(['confidence'])
  expect(lint({ maxAge: '91d' })).toEqual(['maxAge'])
  const tooHigh = [{ metric: 'loop_rate', kind: 'zero_tolerance', maxRate: '1.5' }]
  expect(lint({ gates: tooHigh })).toEqual(['gates.0.maxRate'])
})
