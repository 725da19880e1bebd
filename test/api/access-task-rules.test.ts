import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { sql } from '../../src/platform/relational/index.ts'
import { type AccessApp, callsAs, outcome, startAccessApp } from '../support/access-app.ts'
import { declarer, accessRoot as root } from '../support/declared-access.ts'

/** The rules for sessions and tasks that a project switches off. */
let app: AccessApp
let owner: string

beforeAll(async () => {
  app = await startAccessApp()
  owner = await app.signIn(app.first.admin_email, app.first.admin_password)
})
afterAll(() => app?.close())

const { get, post, put } = callsAs(() => ({ app, token: owner }))
const urlOf = (id: string) => `${root}/projects/${id}`

async function newProject(): Promise<string> {
  const projects = `${root}/organizations/${app.first.organization_id}/projects`
  return (await post(projects, { name: newId() })).body.id
}

const offOf = async (id: string) => (await get(urlOf(id))).body.task_rules_off
const change = (id: string, off: unknown) => put(`${urlOf(id)}/task-rules`, { off })

test('all rules hold until an admin switches some off, and keys know it', async () => {
  const id = await newProject()
  const scopes = ['proxy:write']
  const { key } = (await post(`${urlOf(id)}/api-keys`, { name: 'k', scopes })).body
  expect(await offOf(id)).toEqual([])
  expect(await app.access.keys.authenticate(key)).not.toHaveProperty('task_rules_off')
  const changed = await change(id, ['history', 'codex'])
  expect([changed.status, changed.body]).toEqual([200, (await get(urlOf(id))).body])
  expect(await offOf(id)).toEqual(['history', 'codex'])
  app.access.keys.forget(key.slice(0, key.lastIndexOf('_')))
  const known = await app.access.keys.authenticate(key)
  expect(known).toMatchObject({ task_rules_off: ['codex', 'history'] })
  expect((await change(id, [])).body.task_rules_off).toEqual([])
})

test('a wrong list changes nothing', async () => {
  const id = await newProject()
  for (const off of [['unknown'], ['codex', 'codex'], null, undefined, 'codex']) {
    expect(outcome(await change(id, off))).toEqual([400, 'invalid_request'])
  }
  const headers = { 'If-Match': '"99"' }
  const stale = await app.call('PUT', `${urlOf(id)}/task-rules`, {
    ...{ token: owner, headers, body: { off: ['codex'] } },
  })
  expect(outcome(stale)).toEqual([412, 'precondition_failed'])
  expect(await offOf(id)).toEqual([])
})

test('another tenant, an editor, a key and the operator cannot', async () => {
  const [id, neighbour] = [await newProject(), await newProject()]
  const admin = await app.person('admin@task-rules.example', 'member')
  const editor = await app.person('editor@task-rules.example', 'member')
  await put(`${urlOf(neighbour)}/members/${admin.user_id}`, { role: 'admin' })
  await put(`${urlOf(id)}/members/${editor.user_id}`, { role: 'editor' })
  const { key } = (await post(`${urlOf(id)}/api-keys`, { name: 'k' })).body
  const as = async (caller: object) =>
    outcome(
      await app.call('PUT', `${urlOf(id)}/task-rules`, { ...caller, body: { off: ['codex'] } }),
    )
  expect(await as({ token: admin.token })).toEqual([404, 'project_not_found'])
  expect(await as({ token: editor.token })).toEqual([403, 'permission_denied'])
  for (const caller of [{ key }, { key: app.operator_key }, {}]) {
    expect([401, 403]).toContain((await as(caller))[0])
  }
  expect(await offOf(id)).toEqual([])
})

test('a project of a resource can, because resources do not name rules', async () => {
  const id = newId()
  const managed_by = declarer('Project', 'rules', { namespace: 'team-a' })
  const body = { organization: 'default', name: id, managed_by }
  expect((await app.call('PUT', urlOf(id), { key: app.operator_key, body })).status).toBe(201)
  expect((await change(id, ['codex'])).body.task_rules_off).toEqual(['codex'])
  await app.call('PUT', urlOf(id), { key: app.operator_key, body })
  expect(await offOf(id)).toEqual(['codex'])
})

test('a change is in the audit trail', async () => {
  const id = await newProject()
  await change(id, ['codex'])
  const { rows } = await sql<{ record: string }>`select row_to_json(audit_records)::text as record
    from audit_records`.execute(app.relational.db)
  const own = rows.filter(({ record }) => record.includes(id) && record.includes('TaskRules'))
  expect(own).toHaveLength(1)
})
