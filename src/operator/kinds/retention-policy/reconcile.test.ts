import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ReconcileDeps } from '../../contract.ts'
import { ServiceRefusal, ServiceUnavailable } from '../../service/service-client.ts'
import type { DesiredPolicy } from './policy.ts'
import {
  findWinner,
  nameOf,
  type RetentionPolicy,
  reconcileRetention,
  removeRetention,
  withdrawRetention,
} from './reconcile.ts'
import { retentionPolicySpec } from './spec.ts'

const project = '0a1b2c3d-0000-4000-8000-0123456789ab'
const other = '0a1b2c3d-0000-4000-8000-0123456789ff'
const now_ms = Date.parse('2026-11-21T12:00:00Z')

type More = { spec?: object; meta?: object; status?: RetentionPolicy['status'] }

function resourceOf({ spec = {}, meta = {}, status = {} }: More = {}): RetentionPolicy {
  return {
    meta: {
      ...{ kind: 'RetentionPolicy', namespace: 'a', name: 'one', uid: 'u1', generation: 3 },
      ...{ created_at: '2026-11-21T11:00:00Z', annotations: {}, external_id: undefined },
      ...meta,
    },
    spec: retentionPolicySpec.parse({
      ...{ projectRef: { id: project }, traces: { days: 9 }, observations: { days: 9 } },
      ...spec,
    }),
    status,
  }
}

type Stored = Omit<DesiredPolicy, 'managed_by'> & Partial<Pick<DesiredPolicy, 'managed_by'>>

const empty: Stored = {
  days: { content: null, observations: null, traces: null, events: null },
  ...{ environments: [], archive_before_delete: false, archive: null, legal_holds: [] },
}

/** A service with the few rules that a reconcile relies on; it records the requests. */
function serviceOf(policies: Map<string, unknown> = new Map()) {
  const requests: string[] = []
  const bodies: Record<string, unknown>[] = []
  const toStored = (stored: unknown) => ({
    ...{ version: 1, managed_by: null, last_run: null, deleted_rows: 0, deleted_bytes: 0 },
    ...{ next_run_at: null, next_archive_at: null, held_count: 0 },
    ...(stored as object),
  })
  const service: ReconcileDeps['service'] = {
    request: async ({ method, path, project_id = '', body }) => {
      requests.push(`${method} ${path.replace('/api/v2/observability', '')} ${project_id}`)
      if (method === 'PUT') {
        bodies.push(body as Record<string, unknown>)
        policies.set(project_id, body)
      }
      if (method === 'DELETE') policies.delete(project_id)
      const stored = policies.get(project_id) ?? empty
      return { status: 200, body: toStored(stored), etag: undefined }
    },
  }
  return { service, requests, bodies, policies }
}

function depsOf(service: ReconcileDeps['service'], more: Partial<ReconcileDeps> = {}) {
  const deps = {
    ...{ service, project_id: project, rivals: () => [], clock: { now_ms: () => now_ms } },
    ...more,
  } as unknown as ReconcileDeps
  return { deps }
}

const applied = { status: { appliedGeneration: 3, drift: { count: 4 } } }

test('the first reconcile writes, and reads again', async () => {
  const { service, requests, bodies } = serviceOf()
  const { deps } = depsOf(service)
  const result = await reconcileRetention(resourceOf(), deps)
  expect(requests.map((one) => one.split(' ')[0])).toEqual(['GET', 'PUT', 'GET'])
  expect(bodies).toMatchObject([{ take_over: false, managed_by: { name: 'one' } }])
  expect(result).toMatchObject({
    conditions: [{ type: 'Ready', status: 'True', reason: 'Synced' }],
    ...{ drifted: 0, events: [{ type: 'Normal', reason: 'Applied' }] },
    status: { appliedGeneration: 3, drift: { count: 0 } },
  })
  const again = await reconcileRetention(resourceOf({ meta: { external_id: project } }), deps)
  expect(again.events).toEqual([])
  expect(requests.slice(3).map((one) => one.split(' ')[0])).toEqual(['GET'])
})

test('a later change in the service is drift, a change of the spec is not', async () => {
  const changed = serviceOf()
  const { deps } = depsOf(changed.service)
  await reconcileRetention(resourceOf(), deps)
  const stored = changed.policies.get(project) as Stored
  changed.policies.set(project, { ...stored, archive_before_delete: true })
  expect(await reconcileRetention(resourceOf(applied), deps)).toMatchObject({
    ...{ drifted: 1, events: [{ type: 'Warning', reason: 'DriftCorrected' }] },
    status: { drift: { count: 5, lastTime: '2026-11-21T12:00:00.000Z' } },
  })
  const edited = resourceOf({ ...applied, meta: { generation: 4 }, spec: { traces: { days: 99 } } })
  expect(await reconcileRetention(edited, deps)).toMatchObject({
    ...{ drifted: 0, events: [{ type: 'Normal', reason: 'Updated' }] },
    status: { appliedGeneration: 4, drift: { count: 4 } },
  })
})

test('a restored resource adopts its policy again, without drift', async () => {
  const { service, bodies } = serviceOf()
  const { deps } = depsOf(service)
  await reconcileRetention(resourceOf(), deps)
  const restored = resourceOf({ ...applied, meta: { uid: 'u2' } })
  expect(await reconcileRetention(restored, deps)).toMatchObject({ drifted: 0 })
  expect(bodies.at(-1)).toMatchObject({ take_over: false, managed_by: { uid: 'u2' } })
})

test('winning after an older resource is gone is not drift', async () => {
  const { service } = serviceOf()
  const behind = { type: 'Ready', status: 'False', reason: 'Conflict', message: '' } as const
  const conditions = [{ ...behind, lastTransitionTime: '', observedGeneration: 3 }]
  const resource = resourceOf({ status: { ...applied.status, conditions } })
  expect(await reconcileRetention(resource, depsOf(service).deps)).toMatchObject({
    ...{ drifted: 0, events: [{ reason: 'Applied' }] },
  })
})

test('an unreadable policy is overwritten', async () => {
  const broken = { ...empty, days: { traces: 'many' } }
  const { service, bodies } = serviceOf(new Map([[project, broken]]))
  const { deps } = depsOf(service)
  const result = await reconcileRetention(resourceOf(applied), deps)
  expect(bodies).toMatchObject([{ take_over: true }])
  expect(result).toMatchObject({
    conditions: [{ status: 'True' }],
    status: { drift: { count: 5 } },
  })
})

test('a read-back that differs is not Ready', async () => {
  const { service } = serviceOf()
  const deaf: ReconcileDeps['service'] = {
    request: (request) => service.request({ ...request, method: 'GET' }),
  }
  await expect(reconcileRetention(resourceOf(), depsOf(deaf).deps)).rejects.toMatchObject({
    ...{ name: 'NotReady', reason: 'NotApplied' },
    message: expect.stringContaining('traces.days was forever, is 9'),
  })
})

test('behind an older resource no request is sent; the older one takes over', async () => {
  const { service, requests, bodies } = serviceOf()
  const older = resourceOf({ meta: { name: 'older', created_at: '2026-11-21T10:00:00Z' } })
  const { deps } = depsOf(service, { rivals: () => [older as never] })
  await expect(reconcileRetention(resourceOf(), deps)).rejects.toMatchObject({
    ...{ reason: 'Conflict', message: expect.stringContaining('a/older') },
  })
  expect(requests).toEqual([])
  await reconcileRetention(resourceOf(), depsOf(service).deps)
  await reconcileRetention(older, depsOf(service).deps)
  expect(bodies.at(-1)).toMatchObject({ take_over: true, managed_by: { name: 'older' } })
})

test('a withdrawn policy is released and keeps its data', async () => {
  const { service, requests } = serviceOf()
  const deleted = resourceOf({ spec: { deletionPolicy: 'Delete' } })
  await withdrawRetention(deleted, { service, project_id: project })
  const query = 'managed_by=RetentionPolicy%2Fa%2Fone&retain=true'
  expect(requests).toEqual([`DELETE /retention-policy?${query} ${project}`])
})

test.each([
  ['project_not_found', 404, 'ProjectNotFound'],
  ['archive_not_configured', 409, 'ArchiveNotConfigured'],
  ['too_many_holds', 409, 'TooManyHolds'],
])('a refusal %s becomes a reason of Ready', async (code, status, reason) => {
  const { service } = serviceOf()
  const refusing: ReconcileDeps['service'] = {
    request: async (request) => {
      if (request.method === 'PUT' || status === 404) {
        throw new ServiceRefusal({ status, code, detail: 'no' })
      }
      return service.request(request)
    },
  }
  const { deps } = depsOf(refusing)
  await expect(reconcileRetention(resourceOf(), deps)).rejects.toMatchObject({ reason })
})

test('removal deletes once in every project that may have been written', async () => {
  const { service, requests } = serviceOf()
  const retained = resourceOf({
    ...{ spec: { deletionPolicy: 'Retain' }, meta: { external_id: other } },
  })
  await removeRetention(retained, { service, project_id: project })
  const query = 'managed_by=RetentionPolicy%2Fa%2Fone&retain=true'
  expect(requests).toEqual([
    `DELETE /retention-policy?${query} ${project}`,
    `DELETE /retention-policy?${query} ${other}`,
  ])
})

test.each([
  [
    'a project that is gone',
    new ServiceRefusal({ status: 404, code: 'project_not_found', detail: '' }),
  ],
  ['another owner', new ServiceRefusal({ status: 409, code: 'managed_by_kubernetes', detail: '' })],
])('removal succeeds with %s, and fails with any other error', async (_, refusal) => {
  const throwing = (error: Error) => ({
    project_id: project,
    service: { request: () => Promise.reject(error) },
  })
  await removeRetention(resourceOf(), throwing(refusal))
  const down = new ServiceUnavailable('down')
  await expect(removeRetention(resourceOf(), throwing(down))).rejects.toBe(down)
  const others = new ServiceRefusal({ status: 412, code: 'precondition_failed', detail: '' })
  await expect(removeRetention(resourceOf(), throwing(others))).rejects.toBe(others)
})

test('removal of a policy that never had a project sends nothing', async () => {
  const { service, requests } = serviceOf()
  await removeRetention(resourceOf(), { service, project_id: '' })
  expect(requests).toEqual([])
})

function policy(
  name: string,
  created_at: string,
  { namespace = 'a' }: { namespace?: string } = {},
): RetentionPolicy {
  return {
    meta: {
      ...{ kind: 'RetentionPolicy', name, namespace, uid: name, generation: 1, created_at },
      ...{ annotations: {}, external_id: undefined },
    },
    spec: retentionPolicySpec.parse({ projectRef: { name: 'default' } }),
    status: {},
  }
}

const early = '2026-11-21T12:00:00Z'
const late = '2026-11-21T12:00:01Z'
/** Finds the winner among the policy and its rivals. */
const winner = (own: RetentionPolicy, ...peers: RetentionPolicy[]) =>
  nameOf(
    findWinner(
      own,
      peers.filter((peer) => peer !== own),
    ),
  )

test('the oldest wins, and among equally old ones the first by namespace and name', () => {
  const [one, other] = [policy('b', early), policy('a', late)]
  expect(winner(one, one, other)).toBe('a/b')
  expect(winner(other, one, other)).toBe('a/b')
  expect(winner(policy('b', early), policy('a', early))).toBe('a/a')
  expect(winner(policy('a', early, { namespace: 'b' }), policy('z', early))).toBe('a/z')
})

test('a policy without rivals wins', () => {
  expect(winner(policy('b', late))).toBe('a/b')
})

test('all policies of a project agree on the winner', () => {
  const some = fc.uniqueArray(fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ max: 99 })), {
    minLength: 1,
    selector: ([, n]) => n,
  })
  fc.assert(
    fc.property(some, (all) => {
      const peers = all.map(([s, n]) => policy(`p${n}`, `2026-11-21T12:00:0${s}Z`))
      expect(new Set(peers.map((own) => winner(own, ...peers))).size).toBe(1)
    }),
  )
})
