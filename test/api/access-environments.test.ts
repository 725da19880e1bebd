import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import {
  type AccessApp,
  callsAs,
  outcome,
  type Person,
  type Reply,
  startAccessApp,
} from '../support/access-app.ts'
import { declarer, accessRoot as root } from '../support/declared-access.ts'
import { blocked, whileLocked } from '../support/row-locks.ts'

/** The environments of a project: the names that its keys can have. */
let app: AccessApp
let owner: string
let projects: string

beforeAll(async () => {
  app = await startAccessApp()
  owner = await app.signIn(app.first.admin_email, app.first.admin_password)
  projects = `${root}/organizations/${app.first.organization_id}/projects`
})
afterAll(() => app?.close())

const { get, post, put } = callsAs(() => ({ app, token: owner }))
const both = ['production', 'staging']

/** Creates a project with these environments and returns its id. */
async function projectWith(environments?: readonly string[] | null): Promise<string> {
  const made = await post(projects, { name: newId(), environments })
  expect(made.status).toBe(201)
  return made.body.id
}
const urlOf = (id: string) => `${root}/projects/${id}`
const listOf = async (id: string) => (await get(urlOf(id))).body.environments
const narrow = (id: string, environments: unknown) =>
  put(`${urlOf(id)}/environments`, { environments })
const keyOf = (id: string, environment?: string | null) =>
  post(`${urlOf(id)}/api-keys`, { name: 'k', environment })
const works = async (key: string) => (await app.call('GET', '/probe/key', { key })).status
const refused = ({ status, body }: Reply) => [status, body.code, body.errors]
const refusal = (detail: string) => [
  ...[400, 'invalid_request'],
  [{ pointer: '/environment', detail }],
]
const notListed = (name: string) =>
  refusal(`got ${name}, expected one of production, staging: the environments of the project`)

/** Creates a service account and returns the path of its keys. */
async function accountKeysOf(id: string): Promise<string> {
  const body = { name: newId(), scopes: ['proxy:write'] }
  const made = await post(`${root}/service-accounts?project_id=${id}`, body)
  return `${root}/service-accounts/${made.body.id}/keys?project_id=${id}`
}

describe('the environments of a project', () => {
  test('are any by default, and shown in every reply', async () => {
    const any = await projectWith()
    expect(await listOf(any)).toBeNull()
    expect((await keyOf(any, 'whatever')).status).toBe(201)
    const some = await projectWith([' production ', 'staging'])
    expect(await listOf(some)).toEqual(both)
    const pages = [await get(projects), await get(`${root}/projects`)]
    for (const { body } of pages) {
      const of = (id: string) => body.projects.find((one: { id: string }) => one.id === id)
      expect([of(any).environments, of(some).environments]).toEqual([null, both])
    }
  })

  test.each([
    ['a name twice', ['production', 'production'], '/environments'],
    ['a name twice after trimming', ['production', ' production'], '/environments'],
    ['a blank name', ['production', ' '], '/environments/1'],
    ['a name of 101 characters', ['a'.repeat(101)], '/environments/0'],
    ['a name with a control character', ['a\u0007'], '/environments/0'],
    ['21 names', Array.from({ length: 21 }, (_, n) => `e${n}`), '/environments'],
    ['text', 'production', '/environments'],
  ])('can not be %s', async (_what, environments, pointer) => {
    const id = await projectWith(both)
    const made = await post(projects, { name: newId(), environments })
    for (const reply of [made, await narrow(id, environments)]) {
      expect(outcome(reply)).toEqual([400, 'invalid_request'])
      expect(reply.body.errors[0].pointer).toBe(pointer)
    }
    expect(await listOf(id)).toEqual(both)
  })

  test('limit the keys of the project and of its service accounts', async () => {
    const id = await projectWith(both)
    expect((await keyOf(id, 'staging')).body.environment).toBe('staging')
    expect((await keyOf(id)).body.environment).toBeNull()
    expect((await keyOf(id, null)).status).toBe(201)
    expect(refused(await keyOf(id, 'Staging'))).toEqual(notListed('Staging'))
    const keys = await accountKeysOf(id)
    expect((await post(keys, { environment: 'production' })).status).toBe(201)
    expect(refused(await post(keys, { environment: 'dev' }))).toEqual(notListed('dev'))
    const listed = await get(`${urlOf(id)}/api-keys`)
    const names = listed.body.api_keys.map((key: { environment: string }) => key.environment)
    expect(names.map(String).toSorted()).toEqual(['null', 'null', 'production', 'staging'])
  })

  test('that are an empty list leave keys without an environment only', async () => {
    const id = await projectWith([])
    expect((await keyOf(id)).status).toBe(201)
    const detail = 'got dev, expected no environment: the environments of the project are empty'
    expect(refused(await keyOf(id, 'dev'))).toEqual(refusal(detail))
  })

  test('can be any again', async () => {
    const id = await projectWith(both)
    const changed = await narrow(id, null)
    expect([changed.status, changed.body]).toEqual([200, (await get(urlOf(id))).body])
    expect(changed.body).toMatchObject({ id, environments: null, role: 'admin' })
    expect((await keyOf(id, 'dev')).status).toBe(201)
    expect(outcome(await put(`${urlOf(id)}/environments`, {}))).toEqual([400, 'invalid_request'])
  })

  test('that are narrowed leave keys valid, and replacements only for listed names', async () => {
    const id = await projectWith([...both, 'dev'])
    const old = (await keyOf(id, 'dev')).body
    await narrow(id, both)
    expect(await works(old.key)).toBe(200)
    const rotate = `${urlOf(id)}/api-keys/${old.id}/rotate`
    expect(refused(await post(rotate))).toEqual(notListed('dev'))
    expect(refused(await post(rotate, { environment: 'other' }))).toEqual(notListed('other'))
    expect(await works(old.key)).toBe(200)
    const moved = await post(rotate, { environment: 'staging' })
    expect([moved.status, moved.body.environment]).toEqual([201, 'staging'])
    expect([await works(old.key), await works(moved.body.key)]).toEqual([401, 200])
    const again = `${urlOf(id)}/api-keys/${moved.body.id}/rotate`
    expect((await post(again)).body.environment).toBe('staging')
  })

  test('of a key that is replaced can become none', async () => {
    const id = await projectWith(['dev'])
    const old = (await keyOf(id, 'dev')).body
    await narrow(id, both)
    const rotated = await post(`${urlOf(id)}/api-keys/${old.id}/rotate`, { environment: null })
    expect([rotated.status, rotated.body.environment]).toEqual([201, null])
  })
})

describe('the right to change them', () => {
  let admin: Person
  let editor: Person
  let outsider: Person

  beforeAll(async () => {
    admin = await app.person('admin@environments.example', 'member')
    editor = await app.person('editor@environments.example', 'member')
    outsider = await app.person('outsider@environments.example', 'member')
  })

  test('is that of the admins of this project', async () => {
    const [id, neighbour] = [await projectWith(both), await projectWith(['theirs'])]
    const member = (to: string, user: Person, role: string) =>
      put(`${urlOf(to)}/members/${user.user_id}`, { role })
    await member(id, admin, 'admin')
    await member(id, editor, 'editor')
    const set = (to: string, { token }: Person) =>
      app.call('PUT', `${urlOf(to)}/environments`, { token, body: { environments: ['taken'] } })
    expect(outcome(await set(id, editor))).toEqual([403, 'permission_denied'])
    expect(outcome(await set(id, outsider))).toEqual([404, 'project_not_found'])
    expect(outcome(await set(neighbour, admin))).toEqual([404, 'project_not_found'])
    expect([await listOf(id), await listOf(neighbour)]).toEqual([both, ['theirs']])
    expect((await set(id, admin)).status).toBe(200)
    expect([await listOf(id), await listOf(neighbour)]).toEqual([['taken'], ['theirs']])
    expect((await keyOf(neighbour, 'theirs')).status).toBe(201)
    expect((await keyOf(neighbour, 'taken')).status).toBe(400)
  })

  test('is not that of a key, of the operator, or of a caller without credentials', async () => {
    const id = await projectWith(both)
    const { key } = (await keyOf(id)).body
    const body = { environments: ['taken'] }
    const path = `${urlOf(id)}/environments`
    for (const credentials of [{ key }, { key: app.operator_key }, {}]) {
      const { status } = await app.call('PUT', path, { ...credentials, body })
      expect([401, 403]).toContain(status)
    }
    expect(await listOf(id)).toEqual(both)
  })
})

describe('the environments that a resource declares', () => {
  const declare = (id: string, environments?: readonly string[], namespace = 'team-a') => {
    const managed_by = declarer('Project', 'checkout', { namespace })
    const body = { organization: 'default', name: id, environments, managed_by }
    return app.call('PUT', urlOf(id), { key: app.operator_key, body })
  }

  test('are created, replaced and removed with the declaration', async () => {
    const id = newId()
    const made = await declare(id, both)
    expect([made.status, made.body.environments]).toEqual([201, both])
    expect(refused(await keyOf(id, 'dev'))).toEqual(notListed('dev'))
    expect((await declare(id, ['dev'])).body.environments).toEqual(['dev'])
    expect((await keyOf(id, 'dev')).status).toBe(201)
    expect((await declare(id)).body.environments).toBeNull()
  })

  test('are not changed by a person or by the resource of a neighbour', async () => {
    const id = newId()
    await declare(id, both)
    const managed = [409, 'managed_by_kubernetes']
    expect(outcome(await narrow(id, ['taken']))).toEqual(managed)
    expect(outcome(await declare(id, ['taken'], 'team-b'))).toEqual(managed)
    expect(await listOf(id)).toEqual(both)
    await app.relational.db
      .updateTable('projects')
      .set({ managed_by: null })
      .where('id', '=', id)
      .execute()
    expect(outcome(await declare(id, ['taken'], 'team-b'))).toEqual([409, 'name_taken'])
    expect(await listOf(id)).toEqual(both)
  })
})

describe('a list that is narrowed while a key is made', () => {
  const makers: [string, (id: string) => Promise<() => Promise<Reply>>][] = [
    ['a key of the project', async (id) => () => keyOf(id, 'dev')],
    [
      'a key of a service account',
      async (id) => {
        const keys = await accountKeysOf(id)
        return () => post(keys, { environment: 'dev' })
      },
    ],
    [
      'a replacement',
      async (id) => {
        const { body } = await keyOf(id, 'dev')
        return () => post(`${urlOf(id)}/api-keys/${body.id}/rotate`)
      },
    ],
  ]

  test.each(makers)('holds for %s', async (_what, prepare) => {
    const id = await projectWith([...both, 'dev'])
    const make = await prepare(id)
    const { db } = app.relational
    const { making } = await whileLocked(
      db,
      (trx) =>
        trx.updateTable('projects').set({ environments: both }).where('id', '=', id).execute(),
      async () => {
        const making = make()
        await Promise.race([making, blocked(db, 1)])
        return { making }
      },
    )
    expect(refused(await making)).toEqual(notListed('dev'))
  })

  test('waits for a key that is made first, and another project does not', async () => {
    const [id, neighbour] = [await projectWith(['dev']), await projectWith(['dev'])]
    const { db } = app.relational
    const { narrowing } = await whileLocked(
      db,
      (trx) => trx.selectFrom('projects').select('id').where('id', '=', id).forShare().execute(),
      async () => {
        const narrowing = narrow(id, both)
        await blocked(db, 1)
        expect((await narrow(neighbour, both)).status).toBe(200)
        expect((await keyOf(id, 'dev')).status).toBe(201)
        return { narrowing }
      },
    )
    expect((await narrowing).status).toBe(200)
  })
})
