import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { projectKind } from '../../src/operator/kinds/project/index.ts'
import { projectGrantKind } from '../../src/operator/kinds/project-grant/index.ts'
import { projectMemberKind } from '../../src/operator/kinds/project-member/index.ts'
import { retentionPolicyKind } from '../../src/operator/kinds/retention-policy/index.ts'
import { serviceAccountKind } from '../../src/operator/kinds/service-account/index.ts'
import { newProjectId } from '../../src/operator/service/projects.ts'
import { apiServerStartTimeoutMs } from '../support/kube/api-server.ts'
import { grantProject } from '../support/kube/grants.ts'
import { doomedOperator, killAtEachWrite } from '../support/kube/killed-operators.ts'
import {
  type ProductCluster,
  productOperator,
  productOptions,
  sharedProductCluster,
} from '../support/kube/product-cluster.ts'
import { type ProjectPeople, projectPeople } from '../support/kube/project-people.ts'
import { type Resources, resourcesOf } from '../support/kube/resources.ts'

let cluster: ProductCluster
let people: ProjectPeople

beforeAll(async () => {
  cluster = await sharedProductCluster()
  people = projectPeople(cluster)
}, apiServerStartTimeoutMs)
afterAll(() => cluster?.[Symbol.asyncDispose]())

const organization = 'default'
const resyncPeriod = '30s'
const invitationsIn = (project_id: string) =>
  cluster.service.db
    .selectFrom('invitations')
    .selectAll()
    .where('project_id', '=', project_id)
    .execute()

describe('a ProjectMember that is killed at each write and run again', () => {
  type Place = { namespace: string; project: string; members: Resources; email: string }
  /** Creates a place whose member is invited, and has accepted if `isMember`. */
  async function place({ isMember = false } = {}): Promise<Place> {
    const [namespace, project] = [await cluster.server.namespace(), await cluster.service.project()]
    await grantProject(cluster.server, namespace, project)
    const members = resourcesOf(cluster.server, projectMemberKind, namespace)
    const made = { namespace, project, members, email: `ada@${namespace}.example` }
    await members.apply('ada', specOf(made))
    if (!isMember) return made
    await using _ = await productOperator(cluster, [namespace])
    const { status } = await members.notReady('ada', 'LinkNotSent')
    await people.accept(status.invitationId)
    return made
  }
  const specOf = ({ project, email }: Omit<Place, 'members'>, role = 'viewer') => ({
    ...{ projectRef: { id: project }, email, role, resyncPeriod },
  })
  const accepted = ({ members }: Place) =>
    members.until('ada', 'is accepted', ({ status }) => status?.state === 'Accepted')

  const happenings = {
    'is made': {
      writes: 3,
      place: () => place(),
      isDone: ({ members }: Place) => members.notReady('ada', 'LinkNotSent'),
      expectWhole: async ({ project, email }: Place) => {
        expect(await invitationsIn(project)).toMatchObject([{ email, accepted_at: null }])
      },
    },
    'gets another role': {
      writes: 2,
      place: async () => {
        const made = await place({ isMember: true })
        await made.members.apply('ada', specOf(made, 'editor'))
        return made
      },
      isDone: async (at: Place) => {
        await accepted(at)
        await at.members.ready('ada')
      },
      expectWhole: async ({ project }: Place) => {
        expect(await invitationsIn(project)).toHaveLength(1)
        const path = `/api/v2/access/projects/${project}/members`
        const { body } = await cluster.service.call('GET', path)
        const roles = body.members.map((one: { project_role: string }) => one.project_role)
        expect(roles).toContain('editor')
      },
    },
    'is deleted': {
      writes: 2,
      place: async () => {
        const made = await place({ isMember: true })
        await made.members.remove('ada')
        return made
      },
      isDone: ({ members }: Place) => members.gone('ada'),
      expectWhole: async ({ project, email }: Place) => {
        expect(await invitationsIn(project)).toEqual([])
        expect(await people.emailsIn(project)).not.toContain(email)
      },
    },
  }

  test.each(Object.entries(happenings))(
    '%s: no second invitation, no leaked member',
    async (_name, about) => {
      const killed = await killAtEachWrite<Place>({
        place: about.place,
        operator: async ({ namespace }, write) =>
          doomedOperator(await productOptions(cluster, [namespace]), write),
        isDone: about.isDone,
        ...{ at_once: 4, writes: about.writes },
      })
      const places = killed.map((one) => one.place)
      await using _all = await productOperator(
        cluster,
        places.map(({ namespace }) => namespace),
      )
      for (const one of places) {
        await about.isDone(one)
        await about.expectWhole(one)
      }
    },
  )
})

test('a token of an invitation is in no status, event or log of the operator', async () => {
  const [namespace, project] = [await cluster.server.namespace(), await cluster.service.project()]
  await grantProject(cluster.server, namespace, project)
  const members = resourcesOf(cluster.server, projectMemberKind, namespace)
  await using operator = await productOperator(cluster, [namespace])
  const email = `ada@${namespace}.example`
  await members.apply('ada', { projectRef: { id: project }, email, role: 'viewer', resyncPeriod })
  const { status } = await members.notReady('ada', 'LinkNotSent')
  const token = await people.accept(status.invitationId)
  const annotations = { 'looptrace.dev/reconcile-requested-at': 'now' }
  await members.apply(
    'ada',
    { projectRef: { id: project }, email, role: 'viewer', resyncPeriod },
    { annotations },
  )
  const resource = await members.ready('ada')
  const events = await cluster.server.tell(
    'GET',
    `/apis/events.k8s.io/v1/namespaces/${namespace}/events`,
  )
  expect(events.items.length).toBeGreaterThan(0)
  const texts = [JSON.stringify(resource), JSON.stringify(events), operator.logged()]
  expect(texts.filter((text) => text.includes('lti_') || text.includes(token))).toEqual([])
})

test('an archived project gives no access when it is restored, and its legal holds stay', async () => {
  const namespace = await cluster.server.namespace()
  const name = `archived ${namespace}`
  const id = newProjectId({ organization, name })
  await grantProject(cluster.server, namespace, { organization, name })
  const of = (kind: Parameters<typeof resourcesOf>[1]) =>
    resourcesOf(cluster.server, kind, namespace)
  const [projects, members] = [of(projectKind), of(projectMemberKind)]
  const [accounts, policies] = [of(serviceAccountKind), of(retentionPolicyKind)]
  await using _ = await productOperator(cluster, [namespace])
  const projectRef = { organization, name }
  const declared = { organization, name, resyncPeriod, deletionPolicy: 'Delete' }
  await projects.apply('checkout', declared)
  await projects.ready('checkout')
  const email = `ada@${namespace}.example`
  await members.apply('ada', { projectRef, email, role: 'admin', resyncPeriod })
  const keys = [{ name: 'main', secretName: 'agent-key' }]
  await accounts.apply('agent', { projectRef, scopes: ['tasks:read'], keys, resyncPeriod })
  const legalHolds = [{ name: 'case-12', taskId: 'task-12', reason: 'a case' }]
  await policies.apply('days', {
    projectRef,
    traces: { days: 7 },
    observations: { days: 7 },
    legalHolds,
    resyncPeriod,
  })
  await accounts.ready('agent')
  await policies.ready('days')
  const { status } = await members.notReady('ada', 'LinkNotSent')
  await people.accept(status.invitationId)
  expect(await people.emailsIn(id)).toContain(email)
  await projects.remove('checkout')
  await projects.gone('checkout')
  // While the project is archived, its API does not find the members and keys of these resources.
  for (const [kind, one] of [
    [members, 'ada'],
    [accounts, 'agent'],
    [policies, 'days'],
  ] as const) {
    await kind.remove(one)
    await kind.gone(one)
  }
  await projects.apply('checkout', declared)
  await projects.ready('checkout')
  expect(await people.emailsIn(id)).not.toContain(email)
  const { db } = cluster.service
  const live = await db
    .selectFrom('api_keys')
    .select('id')
    .where('project_id', '=', id)
    .where('revoked_at', 'is', null)
    .execute()
  expect(live).toEqual([])
  const holds = await cluster.service.call('GET', '/api/v2/observability/legal-holds', {
    project_id: id,
  })
  expect(holds.body.holds).toMatchObject([{ name: 'case-12' }])
})

test('the guide onboards a team with its manifests, in their order', async () => {
  const guide = await readFile(
    `${import.meta.dirname}/../../docs/guides/onboard-a-team-from-git.md`,
    'utf8',
  )
  const blocks = [...guide.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, yaml]) => yaml ?? '')
  expect(blocks).toHaveLength(2)
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-a' } }
  await cluster.server.tell('POST', '/api/v1/namespaces', { body })
  await using _ = await productOperator(cluster, ['team-a'])
  for (const input of blocks) {
    expect(parseAllDocuments(input).length).toBeGreaterThan(0)
    const applied = await cluster.server.kubectl(['apply', '-f', '-'], { input })
    expect(applied).toMatchObject({ status: 0, stderr: '' })
  }
  const of = (kind: Parameters<typeof resourcesOf>[1]) =>
    resourcesOf(cluster.server, kind, 'team-a')
  const id = newProjectId({ organization, name: 'checkout' })
  expect((await of(projectKind).ready('checkout')).status.projectId).toBe(id)
  const grants = resourcesOf(cluster.server, projectGrantKind, '')
  expect((await grants.ready('team-a-checkout')).status.projectId).toBe(id)
  await of(serviceAccountKind).ready('agent')
  const secret = await cluster.server.tell('GET', '/api/v1/namespaces/team-a/secrets/agent-key')
  const key = Buffer.from(secret.data['api-key'], 'base64').toString('utf8')
  const { status } = await cluster.service.call('GET', '/api/v2/observability/retention-policy', {
    key,
  })
  expect(status).toBe(403)
  const invited = await of(projectMemberKind).notReady('ada', 'LinkNotSent')
  await people.accept(invited.status.invitationId)
  expect(await people.emailsIn(id)).toContain('ada@example.com')
  const { stdout } = await cluster.server.kubectl(['get', 'ltproj,ltmember,ltsa', '-n', 'team-a'])
  for (const shown of ['checkout', 'ada@example.com', 'agent']) expect(stdout).toContain(shown)
})
