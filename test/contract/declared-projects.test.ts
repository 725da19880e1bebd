import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { projectKind } from '../../src/operator/kinds/project/index.ts'
import { projectMemberKind } from '../../src/operator/kinds/project-member/index.ts'
import { newProjectId } from '../../src/operator/service/projects.ts'
import { eventually } from '../support/eventually.ts'
import { apiServerStart_timeout_ms } from '../support/kube/api-server.ts'
import { editorOf } from '../support/kube/editor.ts'
import { grantProject, grantsOf } from '../support/kube/grants.ts'
import { doomedOperator, killAtEachWrite } from '../support/kube/killed-operators.ts'
import {
  type ProductCluster,
  productOperator,
  productOptions,
  startProductCluster,
} from '../support/kube/product-cluster.ts'
import { type Resources, readyOf, resourcesOf } from '../support/kube/resources.ts'

/** A user with edit rights in the namespaces of a test, and none in the cluster. */
const editor = 'eve'
let cluster: ProductCluster

beforeAll(async () => {
  cluster = await startProductCluster({ users: [editor] })
}, apiServerStart_timeout_ms)
afterAll(() => cluster?.[Symbol.asyncDispose]())

const organization = 'default'
type Team = { namespace: string; projects: Resources; members: Resources }

/** Creates a namespace that the editor may edit. */
async function team(): Promise<Team> {
  const namespace = await cluster.server.namespace()
  await editorOf(cluster.server, editor).letEdit(namespace)
  return {
    namespace,
    projects: resourcesOf(cluster.server, projectKind, namespace),
    members: resourcesOf(cluster.server, projectMemberKind, namespace),
  }
}

const apply = (of: Team, name: string, spec: object) =>
  editorOf(cluster.server, editor).apply(of.projects, { name, kind: 'Project', spec })
const named = (name: string, more: object = {}) => ({
  ...{ organization, name, resyncPeriod: '30s' },
  ...more,
})
const stored = (id: string) =>
  cluster.service.db.selectFrom('projects').selectAll().where('id', '=', id).executeTakeFirst()
/** An operator of an installation: one of another cluster, as the service sees it. */
async function installed(namespace: string, home: string, name: string) {
  const presence = { namespace: home, name, lease_ms: 15_000, renew_deadline_ms: 10_000 }
  const settings = { namespaces: [namespace], presence: { ...presence, retry_ms: 2_000 } }
  return productOperator(cluster, [namespace], { times: 10, settings })
}
const owner = ({ namespace }: Team, name: string) => ({ kind: 'Project', namespace, name })

describe('a Project', () => {
  test('is created by a granted namespace, kept on deletion, and declared again', async () => {
    const own = await team()
    const name = `made in ${own.namespace}`
    await grantProject(cluster.server, own.namespace, { organization, name })
    await using _ = await productOperator(cluster, [own.namespace])
    await apply(own, 'checkout', named(name))
    const made = await own.projects.ready('checkout')
    const id = newProjectId({ organization, name })
    expect(made.status).toMatchObject({ projectId: id, createdAt: expect.any(String) })
    expect(await stored(id)).toMatchObject({ name, managed_by: owner(own, 'checkout') })
    await own.projects.remove('checkout')
    await own.projects.gone('checkout')
    expect(await stored(id)).toMatchObject({ managed_by: null, archived_at: null })
    await apply(own, 'renamed', named(name, { deletionPolicy: 'Delete' }))
    await own.projects.ready('renamed')
    await own.projects.remove('renamed')
    await own.projects.gone('renamed')
    expect(await stored(id)).toMatchObject({ managed_by: null, archived_at: expect.any(String) })
    await apply(own, 'restored', named(name))
    await own.projects.ready('restored')
    expect(await stored(id)).toMatchObject({ archived_at: null })
  })

  test('of a name that is not granted is not created', async () => {
    const own = await team()
    await grantProject(cluster.server, own.namespace, { organization, name: `a ${own.namespace}` })
    await using _ = await productOperator(cluster, [own.namespace])
    const specs = [
      named(`b ${own.namespace}`),
      { organization: 'other', name: `a ${own.namespace}` },
      named('default'),
      named('default', { id: newProjectId({ organization, name: `a ${own.namespace}` }) }),
    ]
    for (const [n, spec] of specs.entries()) await apply(own, `p-${n}`, spec)
    for (const n of specs.keys()) await own.projects.notReady(`p-${n}`, 'NotGranted')
    const ids = specs.map(newProjectId)
    const found = await cluster.service.db
      .selectFrom('projects')
      .select('id')
      .where('id', 'in', ids)
      .execute()
    expect(found).toEqual([])
  })

  test('that a person made is adopted only with a grant by its id', async () => {
    const own = await team()
    const name = `of a person ${own.namespace}`
    const id = await cluster.service.project(name)
    await grantProject(cluster.server, own.namespace, { organization, name })
    await using _ = await productOperator(cluster, [own.namespace])
    await apply(own, 'by-name', named(name, { deletionPolicy: 'Delete' }))
    const { message } = readyOf(await own.projects.notReady('by-name', 'NameTaken'))
    expect(message).toContain('grant the project by id, and set spec.id')
    await apply(own, 'by-id', named(name, { id }))
    const refused = readyOf(await own.projects.notReady('by-id', 'NotGranted'))
    expect(refused?.message).toContain('no resource may adopt it')
    await own.projects.remove('by-name')
    await own.projects.gone('by-name')
    expect(await stored(id)).toMatchObject({ managed_by: null, archived_at: null })
    await grantProject(cluster.server, own.namespace, id)
    await own.projects.ready('by-id')
    expect(await stored(id)).toMatchObject({ managed_by: owner(own, 'by-id') })
  })

  test('of another namespace or resource is neither taken nor archived', async () => {
    const [first, second] = [await team(), await team()]
    const name = `of ${first.namespace}`
    for (const { namespace } of [first, second]) {
      await grantProject(cluster.server, namespace, { organization, name })
    }
    await using _ = await productOperator(cluster, [first.namespace, second.namespace])
    await apply(first, 'checkout', named(name))
    await first.projects.ready('checkout')
    const id = newProjectId({ organization, name })
    for (const each of [first, second]) {
      await apply(each, 'another', named(name, { deletionPolicy: 'Delete' }))
      await each.projects.notReady('another', 'NameTaken')
      await each.projects.remove('another')
      await each.projects.gone('another')
    }
    expect(await stored(id)).toMatchObject({
      managed_by: owner(first, 'checkout'),
      archived_at: null,
    })
    await first.projects.remove('checkout')
    await first.projects.gone('checkout')
    await apply(second, 'late', named(name))
    await second.projects.notReady('late', 'NameTaken')
  })

  test('is created once, whichever write kills the operator', async () => {
    const killed = await killAtEachWrite<Team & { name: string }>({
      place: async () => {
        const own = await team()
        const name = `killed ${own.namespace}`
        await grantProject(cluster.server, own.namespace, { organization, name })
        await apply(own, 'checkout', named(name))
        return { ...own, name }
      },
      operator: async ({ namespace }, write) =>
        doomedOperator(await productOptions(cluster, [namespace]), write),
      isDone: ({ projects }) => projects.ready('checkout'),
      at_once: 2,
    })
    const places = killed.map(({ place }) => place)
    const namespaces = places.map(({ namespace }) => namespace)
    await using _ = await productOperator(cluster, namespaces)
    for (const { projects, name } of places) {
      const { status } = await projects.ready('checkout')
      expect(status.projectId).toBe(newProjectId({ organization, name }))
    }
  })
})

describe('a Project and a ProjectMember of two installations', () => {
  const apply = async (own: Team, project: string) => {
    const name = `served ${own.namespace}`
    await grantProject(cluster.server, own.namespace, { organization, name })
    await grantProject(cluster.server, own.namespace, project)
    const [editing, resyncPeriod] = [editorOf(cluster.server, editor), '30s']
    const made = { ...named(name), deletionPolicy: 'Delete' }
    await editing.apply(own.projects, { name: 'checkout', kind: 'Project', spec: made })
    const email = `ada@${own.namespace}.example`
    const spec = { projectRef: { id: project }, email, role: 'viewer', resyncPeriod }
    await editing.apply(own.members, { name: 'ada', kind: 'ProjectMember', spec })
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
    const requested = { 'looptrace.dev/reconcile-requested-at': 'now' }
    await editorOf(cluster.server, editor).edit(own.projects, 'checkout', {
      metadata: { annotations: requested },
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
    await own.members.remove('ada')
    await own.members.gone('ada')
    expect(await stored(id)).toMatchObject({ archived_at: null, managed_by: by })
    expect(await invitationsIn(project)).toMatchObject([{ managed_by: early }])
  })
})

describe('a ProjectMember', () => {
  const invite = (of: Team, name: string, spec: object) =>
    editorOf(cluster.server, editor).apply(of.members, { name, kind: 'ProjectMember', spec })
  const member = (id: string, email: string, role = 'viewer') => ({
    ...{ projectRef: { id }, email, role, resyncPeriod: '30s' },
  })
  const requested = { metadata: { annotations: { 'looptrace.dev/reconcile-requested-at': 'now' } } }
  const emailsIn = async (project_id: string) => {
    const path = `/api/v2/access/projects/${project_id}/members`
    const { body } = await cluster.service.call('GET', path)
    return body.members.map(({ email }: { email: string }) => email)
  }
  /** Accepts an invitation by the link that an administrator gets. */
  async function accept(invitation_id: string): Promise<void> {
    const { body } = await cluster.service.call('GET', '/api/v2/access/organizations')
    const invitations = `/api/v2/access/organizations/${body.organizations[0].id}/invitations`
    const resent = await cluster.service.call('POST', `${invitations}/${invitation_id}/resend`)
    const given = { display_name: 'Ada', password: 'a password of mine' }
    const accepted = await cluster.service.call('POST', '/api/v1/auth/invitations/accept', {
      key: '',
      body: { token: resent.body.token, ...given },
    })
    expect(accepted.status).toBe(201)
  }

  test('needs an administrator without mail, is accepted, and ends with the resource', async () => {
    const [own, other] = [await team(), await team()]
    const project = await cluster.service.project()
    for (const { namespace } of [own, other]) await grantProject(cluster.server, namespace, project)
    await using _ = await productOperator(cluster, [own.namespace, other.namespace])
    const email = `ada@${own.namespace}.example`
    await invite(own, 'ada', member(project, email))
    const waiting = await own.members.notReady('ada', 'LinkNotSent')
    expect(readyOf(waiting)?.message).toContain(`${waiting.status.invitationId}/resend`)
    await accept(waiting.status.invitationId)
    await editorOf(cluster.server, editor).edit(own.members, 'ada', requested)
    const isAccepted = ({ status }: { status: { state: string } }) => status.state === 'Accepted'
    const accepted = await own.members.until('ada', 'is accepted', isAccepted)
    expect([accepted.status.state, await emailsIn(project)]).toEqual([
      'Accepted',
      expect.arrayContaining([email]),
    ])
    await invite(other, 'ada', member(project, email, 'admin'))
    const foreign = await other.members.notReady('ada', 'LinkNotSent')
    expect(foreign.status.state).toBe('LinkNotSent')
    await other.members.remove('ada')
    await other.members.gone('ada')
    expect(await emailsIn(project)).toContain(email)
    await own.members.remove('ada')
    await own.members.gone('ada')
    expect(await emailsIn(project)).not.toContain(email)
  })

  test('of a project or with a role that is not granted is not invited', async () => {
    const own = await team()
    const [granted, foreign] = [await cluster.service.project(), await cluster.service.project()]
    await grantProject(cluster.server, own.namespace, granted, { roles: ['viewer'] })
    await using _ = await productOperator(cluster, [own.namespace])
    const email = `eve@${own.namespace}.example`
    await invite(own, 'admin', member(granted, email, 'admin'))
    await invite(own, 'foreign', member(foreign, email))
    const admin = readyOf(await own.members.notReady('admin', 'NotGranted'))
    expect(admin?.message).toContain('allows no role admin')
    await own.members.notReady('foreign', 'NotGranted')
    const invited = await cluster.service.db
      .selectFrom('invitations')
      .select('id')
      .where('email', '=', email)
      .execute()
    expect(invited).toEqual([])
  })

  test('loses the invitation and the membership when the grant ends', async () => {
    const own = await team()
    const project = await cluster.service.project()
    const more = { revokeAfter: '1s' }
    const grant = await grantProject(cluster.server, own.namespace, project, more)
    await using _ = await productOperator(cluster, [own.namespace])
    const emails = ['kept', 'open'].map((name) => `${name}@${own.namespace}.example`)
    for (const email of emails) {
      const spec = { ...member(project, email), deletionPolicy: 'Retain' }
      await invite(own, email.slice(0, 4), spec)
    }
    const { status } = await own.members.notReady('kept', 'LinkNotSent')
    await own.members.notReady('open', 'LinkNotSent')
    await accept(status.invitationId)
    await grantsOf(cluster.server).remove(grant)
    for (const name of ['kept', 'open']) {
      const isDone = (one: { status: { withdrawal?: { revokedAt?: string } } }) =>
        one.status.withdrawal?.revokedAt !== undefined
      await own.members.until(name, 'is withdrawn', isDone)
    }
    expect(await emailsIn(project)).not.toContain(emails[0])
    const invited = await cluster.service.db
      .selectFrom('invitations')
      .select('id')
      .where('project_id', '=', project)
      .execute()
    expect(invited).toEqual([])
  })
})
