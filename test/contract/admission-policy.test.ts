import { afterAll, beforeAll, expect, test } from 'vitest'
import { releasePolicyKind } from '../../src/operator/kinds/release-policy/index.ts'
import { eventually } from '../support/eventually.ts'
import {
  type ApiServer,
  apiServerStartTimeoutMs,
  startApiServer,
} from '../support/kube/api-server.ts'
import { installKinds } from '../support/kube/resources.ts'

/** A server of its own: its policy applies to every namespace. */
let server: ApiServer
let namespace: string
beforeAll(async () => {
  server = await startApiServer()
  await installKinds(server, [releasePolicyKind])
  await server.kubectl(['create', 'namespace', 'looptrace'])
  // A stock server sets this label.
  const label = 'kubernetes.io/metadata.name=looptrace'
  await server.kubectl(['label', '--overwrite', 'namespace', 'looptrace', label])
  namespace = await server.namespace()
}, apiServerStartTimeoutMs)
afterAll(() => server?.stop())

type Gate = Record<string, unknown>

function policy(name: string, gates: Gate[]): string {
  const spec = { projectRef: { name: 'default' }, policyId: name, gates }
  const metadata = { name, namespace }
  const kind = 'ReleasePolicy'
  return JSON.stringify({ apiVersion: 'looptrace.dev/v1alpha1', kind, metadata, spec })
}

async function apply(input: string) {
  const { status, stderr } = await server.kubectl(['apply', '-f', '-'], { input })
  return { status, stderr }
}

const success = { metric: 'task_success_rate', kind: 'absolute', threshold: '0.95', minSamples: 50 }
const loops = { metric: 'loop_rate', kind: 'absolute', threshold: '0.02' }

test('without its floor, the admission policy refuses every ReleasePolicy', async () => {
  const { status, stderr } = await server.kubectl([
    ...['apply', '-f', 'examples/admission/release-policy-floor.yaml'],
  ])
  expect([status, stderr]).toEqual([0, ''])
  await eventually('the policy is in force', async () => {
    const refused = await apply(policy('early', [success, loops]))
    return refused.status === 0 ? undefined : refused
  })
  const floor = await server.kubectl(['apply', '-f', 'examples/admission/floor.yaml'])
  expect([floor.status, floor.stderr]).toEqual([0, ''])
  await eventually('the floor is known', async () => {
    const { status: accepted } = await apply(policy('first', [success, loops]))
    return accepted === 0 ? true : undefined
  })
})

test.each<[string, Gate[], string | undefined]>([
  [
    'as strict',
    [
      { ...success, threshold: '0.9' },
      { ...loops, threshold: '0.05' },
    ],
    undefined,
  ],
  ['stricter, with more gates', [success, loops, { ...loops, kind: 'worst_group' }], undefined],
  ['a lower rate of success', [{ ...success, threshold: '0.89' }, loops], 'task_success_rate'],
  ['more loops', [success, { ...loops, threshold: '0.06' }], 'loop_rate (absolute) 0.05'],
  ['a gate that only reports', [{ ...success, tier: 'advisory' }, loops], 'task_success_rate'],
  ['a gate of another kind', [{ ...success, kind: 'worst_group' }, loops], 'task_success_rate'],
  ['no gate for loops', [success], 'loop_rate'],
])('a policy with %s: refused for %j %s', async (name, gates, refused) => {
  const { status, stderr } = await apply(policy(name.replaceAll(/[^a-z]+/g, '-'), gates))
  expect([status === 0, stderr]).toEqual([
    refused === undefined,
    refused === undefined ? '' : expect.stringContaining(refused),
  ])
  if (refused !== undefined) expect(stderr).toContain('the floor looptrace/floor demands more')
})

test('the floor itself can be changed', async () => {
  const lower = ['patch', 'releasepolicy', 'floor', '-n', 'looptrace', '--type=json']
  const change = [{ op: 'replace', path: '/spec/gates/0/threshold', value: '0.8' }]
  const { status } = await server.kubectl([...lower, '-p', JSON.stringify(change)])
  expect(status).toBe(0)
  await eventually('the lower floor applies', async () => {
    const gates = [{ ...success, threshold: '0.85' }, loops]
    return (await apply(policy('lower', gates))).status === 0 ? true : undefined
  })
})
