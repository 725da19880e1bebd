import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { defineRoute, type Route, type RouteScope } from '../../src/platform/http/index.ts'
import { runInProject } from '../../src/platform/tenancy/index.ts'
import { type AccessApp, startAccessApp } from '../support/access-app.ts'

const scope = { level: 'project', role: 'viewer', key: 'tasks:read' } as const
const changeScope = { level: 'project', role: 'editor', key: 'query:run' } as const
const ofOrganization = { level: 'organization', role: 'member' } as const
let app: AccessApp
let owner: string
let other: { organization_id: string; project_id: string; key: string }

/** Defines a route whose handler forgets the project. */
function broken(
  name: string,
  about: { method: 'GET' | 'POST'; scope: RouteScope },
  handle: () => Promise<unknown>,
): Route {
  const url = `/broken/${name}`
  const details = { ...about, url, id: name, summary: 'Forgets the tenant', auth: 'jwt_or_key' }
  return defineRoute({
    ...(details as typeof details & { auth: 'jwt_or_key' }),
    reply: z.unknown(),
    errors: [],
    handle,
  })
}

const db = () => app.relational.db
const keys = () => db().selectFrom('api_keys').select('project_id').execute()
const projects = () => db().selectFrom('projects').select('id').execute()
const organizations = () => db().selectFrom('organizations').select('id').execute()
const members = () => db().selectFrom('organization_members').select('organization_id').execute()
const chains = () => db().selectFrom('audit_records').select('chain_id').distinct().execute()
const replies = () => db().selectFrom('idempotency_keys').select('scope_hash').execute()

const routes = [
  broken('read', { method: 'GET', scope }, async () => ({
    ...{ keys: await keys(), projects: await projects(), organizations: await organizations() },
    ...{ members: await members(), chains: await chains(), replies: await replies() },
  })),
  broken('organization', { method: 'GET', scope: ofOrganization }, async () => ({
    ...{ keys: await keys(), projects: await projects(), organizations: await organizations() },
  })),
  broken('change', { method: 'POST', scope: changeScope }, async () => {
    const changed = await db().updateTable('api_keys').set({ name: 'taken' }).executeTakeFirst()
    const deleted = await db().deleteFrom('service_accounts').executeTakeFirst()
    return { changed: Number(changed.numUpdatedRows), deleted: Number(deleted.numDeletedRows) }
  }),
  broken('insert', { method: 'POST', scope: changeScope }, async () => {
    const { project_id } = other
    const row = { id: crypto.randomUUID(), project_id, name: 'planted', scopes: [] }
    await db().insertInto('service_accounts').values(row).execute()
    return {}
  }),
]

beforeAll(async () => {
  app = await startAccessApp({ routes })
  owner = await app.signIn(app.first.admin_email, app.first.admin_password)
  const post = async (url: string, body: object) => {
    const reply = await app.call('POST', url, {
      token: owner,
      body,
      headers: { 'idempotency-key': url.slice(-20) },
    })
    expect(reply.status, reply.text).toBe(201)
    return reply.body
  }
  const root = '/api/v2/access'
  const { id: organization_id } = await post(`${root}/organizations`, { name: 'other' })
  const { id: project_id } = await post(`${root}/organizations/${organization_id}/projects`, {
    name: 'other',
  })
  const { key } = await post(`${root}/projects/${project_id}/api-keys`, {
    name: 'other',
    scopes: ['tasks:read', 'query:run'],
  })
  await app.relational.pool.query(
    "insert into service_accounts (id, project_id, name) values ($1, $1, 'robot')",
    [project_id],
  )
  other = { organization_id, project_id, key }
})
afterAll(() => app.close())

test('a handler without a filter reads nothing of another tenant', async () => {
  const { organization_id, project_id } = app.first
  const read = await app.call('GET', `/broken/read?project_id=${project_id}`, { token: owner })
  expect(read.status).toBe(200)
  const ids = (rows: Record<string, string>[]) =>
    [...new Set(rows.flatMap((row) => Object.values(row)))].toSorted()
  expect(ids(read.body.keys)).toEqual([project_id])
  expect(ids(read.body.projects)).toEqual([project_id])
  expect(ids(read.body.organizations)).toEqual([organization_id])
  expect(ids(read.body.members)).toEqual([organization_id])
  expect(ids(read.body.chains)).toEqual([organization_id].slice(0, read.body.chains.length))
  expect(read.body.replies).toEqual([])
  expect(read.text).not.toContain(other.project_id)
  expect(read.text).not.toContain(other.organization_id)
})

test('a handler of an organization reads nothing of another one', async () => {
  const { organization_id, project_id } = app.first
  const url = `/broken/organization?project_id=${other.project_id}`
  const read = await app.call('GET', url, { token: owner })
  expect(read.status).toBe(200)
  expect(read.body.organizations).toEqual([{ id: other.organization_id }])
  expect(read.body.projects).toEqual([{ id: other.project_id }])
  expect(read.text).not.toContain(project_id)
  expect(read.text).not.toContain(organization_id)
})

test('a handler without a filter changes and creates nothing of another tenant', async () => {
  const before = await app.relational.pool.query('select name from api_keys order by id')
  const body = {}
  const url = `/broken/change?project_id=${app.first.project_id}`
  const changed = await app.call('POST', url, { token: owner, body })
  expect(changed.body).toEqual({ changed: 1, deleted: 0 })
  const after = await app.relational.pool.query('select name from api_keys where project_id = $1', [
    other.project_id,
  ])
  expect(after.rows).toEqual([{ name: 'other' }])
  expect(before.rows).toHaveLength(2)
  const planted = `/broken/insert?project_id=${app.first.project_id}`
  expect((await app.call('POST', planted, { token: owner, body })).status).toBe(500)
  const { rows } = await app.relational.pool.query('select name from service_accounts')
  expect(rows).toEqual([{ name: 'robot' }])
})

test('concurrent calls of two tenants in one process read only their own rows', async () => {
  const both = [app.first.project_id, other.project_id]
  const rounds = Array.from({ length: 200 }, (_, n) => both[n % 2] ?? '')
  const read = await Promise.all(
    rounds.map((project_id) => runInProject(project_id, async () => (await projects())[0]?.id)),
  )
  expect(read).toEqual(rounds)
})
