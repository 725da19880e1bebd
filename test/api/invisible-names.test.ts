import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { certificationBody } from '../../src/capabilities/certification/api/certification-request.ts'
import { evalRunBody } from '../../src/capabilities/certification/eval-runs/eval-runs.ts'
import { savedQueryBody } from '../../src/capabilities/saved-queries/saved-queries.ts'
import { documentBody } from '../../src/capabilities/verification/knowledge-base/documents/document-schema.ts'
import { newId } from '../../src/kernel/ids.ts'
import { type AccessApp, callsAs, startAccessApp } from '../support/access-app.ts'
import { accessRoot as root } from '../support/declared-access.ts'

/** Names that look like another name, because one of their characters is not seen. */
let app: AccessApp
let owner: string

beforeAll(async () => {
  app = await startAccessApp()
  owner = await app.signIn(app.first.admin_email, app.first.admin_password)
})
afterAll(() => app?.close())

const { get, post, put } = callsAs(() => ({ app, token: owner }))
const evil = 'de\u200bfault'
const message =
  'got the invisible character U+200B at position 3, expected visible text on one line'

describe('are refused', () => {
  const own = () => app.first
  test.each<[string, string, () => string, object]>([
    ['an organization', 'POST', () => '/organizations', { name: evil }],
    ['a renamed organization', 'PUT', () => `/organizations/${own().organization_id}`, {}],
    ['a project', 'POST', () => `/organizations/${own().organization_id}/projects`, {}],
    ['a renamed project', 'PUT', () => `/projects/${own().project_id}/settings`, {}],
    ['a key', 'POST', () => `/projects/${own().project_id}/api-keys`, {}],
    ['a service account', 'POST', () => `/service-accounts?project_id=${own().project_id}`, {}],
  ])('for %s, and the character is named', async (_, method, path, more) => {
    const body = { name: evil, scopes: [], key_scopes: null, ...more }
    const call = method === 'POST' ? post : put
    const { status, body: reply } = await call(`${root}${path()}`, body)
    expect(status).toBe(400)
    expect(reply.errors).toContainEqual({ pointer: '/name', detail: message })
  })

  test('for an environment of a key and of a project', async () => {
    const keys = `${root}/projects/${app.first.project_id}/api-keys`
    expect((await post(keys, { name: 'k', environment: evil })).body.errors).toEqual([
      { pointer: '/environment', detail: message },
    ])
    const environments = `${root}/projects/${app.first.project_id}/environments`
    expect((await put(environments, { environments: ['a', evil] })).body.errors).toEqual([
      { pointer: '/environments/1', detail: message },
    ])
  })

  const release = { name: 'agent', version: '1' }
  test.each([
    ['a saved query', savedQueryBody(() => 0), { name: evil }, ['name']],
    ['a document', documentBody, { name: evil }, ['name']],
    ['an eval run', evalRunBody, { name: evil }, ['name']],
    ['an evaluated release', evalRunBody, { release: { ...release, name: evil } }, ['release']],
    ['a version', certificationBody, { release: { ...release, version: evil } }, ['release']],
  ])('for %s', (_, schema, body, path) => {
    const issues = schema.safeParse(body).error?.issues ?? []
    expect(issues).toContainEqual(
      expect.objectContaining({ message, path: expect.arrayContaining(path) }),
    )
  })
})

test('an earlier name is shown, found, and can be changed', async () => {
  const organization = `${root}/organizations/${app.first.organization_id}`
  const { body: made } = await post(`${organization}/projects`, { name: newId() })
  const old = `old\u202e${newId()}`
  const write = app.relational.db.updateTable('projects').set({ name: old })
  await write.where('id', '=', made.id).execute()
  expect((await get(`${root}/projects/${made.id}`)).body.name).toBe(old)
  const found = await get(`${root}/projects?name=${encodeURIComponent(old)}`)
  expect(found.body.projects.map(({ id }: { id: string }) => id)).toEqual([made.id])
  const settings = `${root}/projects/${made.id}/settings`
  const name = newId()
  expect((await put(settings, { name, key_scopes: null })).status).toBe(200)
  expect((await get(`${root}/projects/${made.id}`)).body.name).toBe(name)
})
