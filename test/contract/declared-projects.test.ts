import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { projectKind } from '../../src/operator/kinds/project/index.ts'
import { projectMemberKind } from '../../src/operator/kinds/project-member/index.ts'
import { newProjectId } from '../../src/operator/service/projects.ts'
import { eventually } from '../support/eventually.ts'
import { apiServerStartTimeoutMs, editor } from '../support/kube/api-server.ts'
import { editorOf } from '../support/kube/editor.ts'
import { grantProject, grantsOf } from '../support/kube/grants.ts'
import { doomedOperator, killAtEachWrite } from '../support/kube/killed-operators.ts'
import {
  type ProductCluster,
  productOperator,
  productOptions,
  sharedProductCluster,
} from '../support/kube/product-cluster.ts'
import { type ProjectPeople, projectPeople } from '../support/kube/project-people.ts'
import { eventReasons, type Resources, readyOf, resourcesOf } from '../support/kube/resources.ts'

/** A user with edit rights in the namespaces of a test, and none in the cluster. */
let cluster: ProductCluster
let people: ProjectPeople

beforeAll(async () => {
  cluster = await sharedProductCluster()
  people = projectPeople(cluster)
}, apiServerStartTimeoutMs)
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

  test('of another name than the granted project in its annotation is not created', async () => {
    const own = await team()
    const [granted, foreign] = [`a ${own.namespace}`, `b ${own.namespace}`]
    await grantProject(cluster.server, own.namespace, { organization, name: granted })
    await using _ = await productOperator(cluster, [own.namespace])
    const id = newProjectId({ organization, name: granted })
    const metadata = { annotations: { 'looptrace.dev/project-id': id } }
    const captured = { name: 'captured', kind: 'Project', spec: named(foreign), metadata }
    await editorOf(cluster.server, editor).apply(own.projects, captured)
    await own.projects.notReady('captured', 'NotGranted')
    expect(await stored(id)).toBeUndefined()
  })

  test('of a granted id that no project has is not created', async () => {
    const own = await team()
    const id = newProjectId({ organization, name: `lost ${own.namespace}` })
    await grantProject(cluster.server, own.namespace, id)
    await using _ = await productOperator(cluster, [own.namespace])
    await apply(own, 'lost', named(`b ${own.namespace}`, { id }))
    await own.projects.notReady('lost', 'ProjectNotFound')
    expect(await stored(id)).toBeUndefined()
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

  test('has the declared environments, also after a change of the spec or in the service', async () => {
    const own = await team()
    const name = `environments ${own.namespace}`
    const id = newProjectId({ organization, name })
    await grantProject(cluster.server, own.namespace, { organization, name })
    await using _ = await productOperator(cluster, [own.namespace])
    const declare = async (environments?: readonly string[]) => {
      await apply(own, 'checkout', named(name, { environments }))
      return (await own.projects.ready('checkout')).metadata.generation
    }
    const keyOf = (environment: string) =>
      cluster.service.call('POST', `/api/v2/access/projects/${id}/api-keys`, {
        ...{ project_id: id, body: { name: 'k', environment } },
      })
    const events = () => eventReasons(cluster.server, own.namespace, 'checkout')
    await declare(['production', 'staging'])
    expect(await stored(id)).toMatchObject({ environments: ['production', 'staging'] })
    const { status, body } = await keyOf('dev')
    expect([status, body.detail]).toEqual([400, expect.stringContaining('production, staging')])
    expect(await declare(['dev', 'production'])).toBe(2)
    expect(await stored(id)).toMatchObject({ environments: ['dev', 'production'] })
    expect((await keyOf('dev')).status).toBe(201)
    await eventually('the change is reported', async () => (await events()).includes('Updated'))
    expect(await events()).not.toContain('DriftCorrected')
    const drift = async (environments: string[] | null) => {
      const { db } = cluster.service
      await db.updateTable('projects').set({ environments }).where('id', '=', id).execute()
      await editorOf(cluster.server, editor).edit(own.projects, 'checkout', {
        metadata: { annotations: { 'looptrace.dev/reconcile-requested-at': newId() } },
      })
    }
    for (const environments of [null, [], ['dev', 'production', 'forged']]) {
      await drift(environments)
      await eventually('the drift is corrected', async () => {
        const { environments } = (await stored(id)) ?? {}
        return environments?.join() === 'dev,production'
      })
    }
    await eventually('the drift is reported', async () =>
      (await events()).includes('DriftCorrected'),
    )
    await declare([])
    expect(await stored(id)).toMatchObject({ environments: [] })
    await declare()
    expect(await stored(id)).toMatchObject({ environments: null })
  })

  test('of another namespace keeps its environments', async () => {
    const [first, second] = [await team(), await team()]
    const name = `environments of ${first.namespace}`
    const id = newProjectId({ organization, name })
    for (const { namespace } of [first, second]) {
      await grantProject(cluster.server, namespace, { organization, name })
    }
    await using _ = await productOperator(cluster, [first.namespace, second.namespace])
    await apply(first, 'checkout', named(name, { environments: ['production'] }))
    await first.projects.ready('checkout')
    await apply(second, 'checkout', named(name, { environments: ['forged'] }))
    await second.projects.notReady('checkout', 'NameTaken')
    await second.projects.remove('checkout')
    await second.projects.gone('checkout')
    expect(await stored(id)).toMatchObject({ environments: ['production'] })
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
      ...{ at_once: 2, writes: 3 },
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

describe('a ProjectMember', () => {
  const invite = (of: Team, name: string, spec: object) =>
    editorOf(cluster.server, editor).apply(of.members, { name, kind: 'ProjectMember', spec })
  const member = (id: string, email: string, role = 'viewer') => ({
    ...{ projectRef: { id }, email, role, resyncPeriod: '30s' },
  })
  const requested = { metadata: { annotations: { 'looptrace.dev/reconcile-requested-at': 'now' } } }

  test('needs an administrator without mail, is accepted, and ends with the resource', async () => {
    const [own, other] = [await team(), await team()]
    const project = await cluster.service.project()
    for (const { namespace } of [own, other]) await grantProject(cluster.server, namespace, project)
    await using _ = await productOperator(cluster, [own.namespace, other.namespace])
    const email = `ada@${own.namespace}.example`
    await invite(own, 'ada', member(project, email))
    const waiting = await own.members.notReady('ada', 'LinkNotSent')
    expect(readyOf(waiting)?.message).toContain(`${waiting.status.invitationId}/resend`)
    await people.accept(waiting.status.invitationId)
    await editorOf(cluster.server, editor).edit(own.members, 'ada', requested)
    const isAccepted = ({ status }: { status: { state: string } }) => status.state === 'Accepted'
    const accepted = await own.members.until('ada', 'is accepted', isAccepted)
    expect([accepted.status.state, await people.emailsIn(project)]).toEqual([
      'Accepted',
      expect.arrayContaining([email]),
    ])
    await invite(other, 'ada', member(project, email, 'admin'))
    const foreign = await other.members.notReady('ada', 'LinkNotSent')
    expect(foreign.status.state).toBe('LinkNotSent')
    await other.members.remove('ada')
    await other.members.gone('ada')
    expect(await people.emailsIn(project)).toContain(email)
    await own.members.remove('ada')
    await own.members.gone('ada')
    expect(await people.emailsIn(project)).not.toContain(email)
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
    await people.accept(status.invitationId)
    await grantsOf(cluster.server).remove(grant)
    for (const name of ['kept', 'open']) {
      const isDone = (one: { status: { withdrawal?: { revokedAt?: string } } }) =>
        one.status.withdrawal?.revokedAt !== undefined
      await own.members.until(name, 'is withdrawn', isDone)
    }
    expect(await people.emailsIn(project)).not.toContain(emails[0])
    const invited = await cluster.service.db
      .selectFrom('invitations')
      .select('id')
      .where('project_id', '=', project)
      .execute()
    expect(invited).toEqual([])
  })
})
