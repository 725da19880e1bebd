import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { projectKind } from '../../src/operator/kinds/project/index.ts'
import { projectMemberKind } from '../../src/operator/kinds/project-member/index.ts'
import { newProjectId } from '../../src/operator/service/projects.ts'
import { eventually } from '../support/eventually.ts'
import { apiServerStartTimeoutMs } from '../support/kube/api-server.ts'
import { grantProject, grantsOf } from '../support/kube/grants.ts'
import {
  type ProductCluster,
  productOperator,
  sharedProductCluster,
} from '../support/kube/product-cluster.ts'
import { type Resources, resourcesOf } from '../support/kube/resources.ts'

let cluster: ProductCluster

beforeAll(async () => {
  cluster = await sharedProductCluster()
}, apiServerStartTimeoutMs)
afterAll(() => cluster?.[Symbol.asyncDispose]())

const organization = 'default'
const resyncPeriod = '30s'
type Team = { namespace: string; projects: Resources; members: Resources }

async function team(): Promise<Team> {
  const namespace = await cluster.server.namespace()
  return {
    namespace,
    projects: resourcesOf(cluster.server, projectKind, namespace),
    members: resourcesOf(cluster.server, projectMemberKind, namespace),
  }
}

const stored = (id: string) =>
  cluster.service.db.selectFrom('projects').selectAll().where('id', '=', id).executeTakeFirst()

/** An operator of an installation: one of another cluster, as the service sees it. */
async function installed(namespace: string, home: string, name: string) {
  const presence = { namespace: home, name, lease_ms: 15_000, renew_deadline_ms: 10_000 }
  const settings = { namespaces: [namespace], presence: { ...presence, retry_ms: 2_000 } }
  return productOperator(cluster, [namespace], { times: 10, settings })
}
describe('a Project and a ProjectMember of two installations', () => {
  const apply = async (own: Team, project: string) => {
    const name = `served ${own.namespace}`
    await grantProject(cluster.server, own.namespace, { organization, name })
    await grantProject(cluster.server, own.namespace, project)
    const made = { organization, name, resyncPeriod, deletionPolicy: 'Delete' }
    await own.projects.apply('checkout', made)
    const email = `ada@${own.namespace}.example`
    const spec = { projectRef: { id: project }, email, role: 'viewer', resyncPeriod }
    await own.members.apply('ada', spec)
    return newProjectId({ organization, name })
  }
  const invitationsIn = (project_id: string) =>
    cluster.service.db
      .selectFrom('invitations')
      .select(['id', 'managed_by'])
      .where('project_id', '=', project_id)
      .execute()

  test('are adopted from an earlier operator, and then left alone by the other', async () => {
    const own = await team()
    const [home, project] = [await cluster.server.namespace(), await cluster.service.project()]
    const id = await apply(own, project)
    {
      await using _early = await productOperator(cluster, [own.namespace])
      await own.projects.ready('checkout')
      await own.members.notReady('ada', 'LinkNotSent')
    }
    const [invited] = await invitationsIn(project)
    {
      await using _one = await installed(own.namespace, home, 'one')
      await eventually('both are adopted', async () => {
        const [member] = await invitationsIn(project)
        const owners = [member?.managed_by, (await stored(id))?.managed_by]
        return owners.every((by) => by?.installation !== undefined)
      })
    }
    const adopted = await invitationsIn(project)
    expect(adopted.map((one) => one.id)).toEqual([invited?.id])
    await using _two = await installed(own.namespace, home, 'two')
    await own.projects.notReady('checkout', 'NameTaken')
    await own.members.notReady('ada', 'Conflict')
    await own.projects.remove('checkout')
    await own.projects.notReady('checkout', 'Conflict')
    // In another cluster the resource of the same name has another uid.
    const uid = { uid: 'other' }
    const owned = (await stored(id))?.managed_by
    const managed_by = JSON.stringify({ ...owned, ...uid })
    await cluster.service.db
      .updateTable('projects')
      .set({ managed_by })
      .where('id', '=', id)
      .execute()
    const path = own.projects.path('checkout')
    const annotations = { 'looptrace.dev/reconcile-requested-at': 'now' }
    await cluster.server.tell('PATCH', path, {
      body: { metadata: { annotations } },
      type: 'application/merge-patch+json',
    })
    await own.projects.gone('checkout')
    await own.members.remove('ada')
    await own.members.gone('ada')
    expect(await stored(id)).toMatchObject({ archived_at: null, managed_by: uid })
    expect(await invitationsIn(project)).toEqual(adopted)
  })

  test('of an earlier operator in another cluster are not ended', async () => {
    const own = await team()
    const [home, project] = [await cluster.server.namespace(), await cluster.service.project()]
    const id = await apply(own, project)
    const early = { kind: 'ProjectMember', namespace: own.namespace, name: 'ada', uid: 'other' }
    const email = 'early@example.com'
    const body = { email, role: 'viewer', managed_by: early }
    const key = cluster.service.operator_key
    const path = `/api/v2/access/projects/${project}/declared-members`
    expect((await cluster.service.call('PUT', path, { key, body })).status).toBe(200)
    const declared = { organization, name: `served ${own.namespace}` }
    const by = { ...early, kind: 'Project', name: 'checkout' }
    const about = { key, body: { ...declared, managed_by: by } }
    await cluster.service.call('PUT', `/api/v2/access/projects/${id}`, about)
    await using _one = await installed(own.namespace, home, 'one')
    await own.projects.notReady('checkout', 'NameTaken')
    await own.members.notReady('ada', 'LinkNotSent')
    await own.projects.remove('checkout')
    await own.projects.gone('checkout')
    // As after a crash between the deletion in the service and the removal of the finalizer.
    await cluster.service.db
      .deleteFrom('invitations')
      .where('project_id', '=', project)
      .where('email', '!=', email)
      .execute()
    await own.members.remove('ada')
    await own.members.gone('ada')
    expect(await stored(id)).toMatchObject({ archived_at: null, managed_by: by })
    expect(await invitationsIn(project)).toMatchObject([{ managed_by: early }])
  })
})

test('the grants of a cluster are shown in the service, and go with their resource', async () => {
  const [home, own, project] = [
    await cluster.server.namespace(),
    await cluster.server.namespace(),
    await cluster.service.project(),
  ]
  const more = { roles: ['viewer'], scopes: ['tasks:read'], kinds: ['RetentionPolicy'] }
  const first = await grantProject(cluster.server, own, project, { ...more, maxKeys: 3 })
  const listed = async () => {
    const path = `/api/v2/access/projects/${project}/grants`
    const { status, body } = await cluster.service.call('GET', path)
    expect(status).toBe(200)
    return body.grants
  }
  const shows = (names: readonly string[]) =>
    eventually(`the service shows ${names.length} grants`, async () => {
      const grants = await listed()
      return (
        grants.length === names.length &&
        names.every((name) => grants.some((one: { name: string }) => one.name === name))
      )
    })
  {
    await using _one = await installed(own, home, 'reporting')
    await shows([first])
    expect(await listed()).toMatchObject([
      {
        ...{ name: first, project_id: project, namespaces: [own], namespace_count: 1 },
        ...{ selector: null, scopes: ['tasks:read'], roles: ['viewer'], max_keys: 3 },
      },
    ])
    const selector = { matchLabels: { 'kubernetes.io/metadata.name': own } }
    const second = await grantProject(cluster.server, own, project, {
      ...{ ...more, namespaces: { selector } },
    })
    await shows([first, second])
    const byLabel = (await listed()).find(({ name }: { name: string }) => name === second)
    expect(byLabel.selector).toBe(`kubernetes.io/metadata.name=${own}`)
    await grantsOf(cluster.server).remove(second)
    await shows([first])
  }
  // A grant that ends while no operator runs is gone with the next report.
  await grantsOf(cluster.server).remove(first)
  expect(await listed()).toHaveLength(1)
  await using _again = await installed(own, home, 'reporting')
  await shows([])
})
