import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { outcome } from '../support/access-app.ts'
import {
  type Declared,
  type DeclaredAccess,
  declarer,
  declarerQuery,
  accessRoot as root,
  startDeclaredAccess,
} from '../support/declared-access.ts'

/** Attacks by resources of one namespace or cluster on people and projects of others. */
let on: DeclaredAccess
const password = 'a password of mine'
/** Installations of two clusters. */
const [one, two] = [newId(), newId()]

beforeAll(async () => {
  on = await startDeclaredAccess()
})
/** A namespace sends a limited number of links per minute. */
beforeEach(() => on.passMinute())
afterAll(() => on?.close())

/** Declares a member whom the person accepts to be; returns the person's access token. */
async function join(name: string, email: string, more: Declared = {}): Promise<string> {
  await on.declare(name, email, more)
  expect((await on.accept(on.mailed(email))).status).toBe(201)
  return on.app.signIn(email, password)
}
async function joinAgain(name: string, email: string, token: string, more: Declared) {
  await on.declare(name, email, more)
  expect((await on.acceptAs(on.mailed(email), token)).status).toBe(200)
}

describe('a member of two clusters', () => {
  test('is one declaration each, although namespace and name are the same', async () => {
    const email = 'two-clusters@example.com'
    const token = await join('same', email, { installation: one, role: 'editor' })
    await joinAgain('same', email, token, { installation: two, uid: 'other' })
    const [first, second] = [
      await on.read('same', { installation: one }),
      await on.read('same', { installation: two }),
    ]
    expect([first.role, second.role, first.id === second.id]).toEqual(['editor', 'viewer', false])
    expect((await on.end('same', { installation: two })).status).toBe(204)
    expect(await on.roleOf(email)).toBe('editor')
    expect((await on.read('same', { installation: one })).id).toBe(first.id)
    await on.end('same', { installation: one })
    expect(await on.roleOf(email)).toBeUndefined()
  })

  test('is not moved to another address by the other cluster', async () => {
    const email = 'not-moved@example.com'
    await join('moved', email, { installation: one })
    await on.declare('moved', 'another@example.com', { installation: two, uid: 'other' })
    expect(await on.roleOf(email)).toBe('viewer')
  })

  test('is adopted from an earlier operator by the same resource only', async () => {
    const early = (await on.declare('early', 'early@example.com')).body.id
    const other = { installation: two, uid: 'other' }
    expect((await on.declare('early', 'early@example.com', other)).body.id).not.toBe(early)
    const same = await on.declare('early', 'early@example.com', { installation: one })
    expect([same.body.id, same.body.managed_by.installation]).toEqual([early, one])
    expect((await on.read('early', { installation: two })).managed_by.uid).toBe('other')
  })
})

describe('an editor of one namespace', () => {
  test('makes no role of another namespace permanent with Retain', async () => {
    const email = 'floor@example.com'
    const other = { namespace: 'team-b', role: 'admin' }
    const token = await join('floor', email)
    await joinAgain('floor', email, token, other)
    await on.end('floor', { retain: true })
    expect(await on.roleOf(email)).toBe('admin')
    await on.end('floor', other)
    await on.passDay()
    expect([await on.roleOf(email), await on.isInOrganization(email)]).toEqual(['viewer', true])
    await joinAgain('floor', email, await on.app.signIn(email, password), other)
    expect(await on.roleOf(email)).toBe('admin')
  })

  test('does not change, lower or remove an owner of the organization', async () => {
    const email = on.plain.first.admin_email
    const members = `${root}/organizations/${on.organization_id}/members?limit=200`
    const asOwner = async () => {
      const { body } = await on.app.call('GET', members, { token: on.owner })
      return body.members.filter((one: { email: string }) => one.email === email)
    }
    const before = await asOwner()
    expect(before).toMatchObject([{ role: 'owner' }])
    await on.declare('boss', email)
    expect(await asOwner()).toEqual(before)
    expect((await on.acceptAs(on.mailed(email), on.owner)).status).toBe(200)
    expect(await asOwner()).toEqual(before)
    const project = `${root}/projects/${on.project}`
    const seen = await on.app.call('GET', project, { token: on.owner })
    expect(seen.body.role).toBe('admin')
    await on.end('boss')
    expect(await asOwner()).toEqual(before)
  })

  test('does not lower or keep out a person who was promoted after the acceptance', async () => {
    const email = 'promoted@example.com'
    await join('promoted', email)
    const members = `${root}/organizations/${on.organization_id}/members`
    const { body } = await on.app.call('GET', `${members}?limit=200`, { token: on.owner })
    const { user_id } = body.members.find((one: { email: string }) => one.email === email)
    const promoted = { token: on.owner, body: { email, role: 'admin' } }
    expect((await on.app.call('POST', members, promoted)).status).toBeLessThan(300)
    await on.end('promoted')
    expect([user_id, await on.isInOrganization(email)]).toEqual([expect.any(String), true])
  })

  test('uses up no invitations of another namespace or of people', async () => {
    const full = { on: on.project, namespace: 'flood' }
    for (let n = 0; n < 51; n += 1) {
      if (n % 20 === 0) on.passMinute()
      const reply = await on.declare(`f-${n}`, `f-${n}@example.com`, full)
      if (n < 50) expect(reply.status).toBe(200)
      else expect(outcome(reply)).toEqual([409, 'limit_reached'])
    }
    expect((await on.declare('calm', 'calm@example.com', { namespace: 'calm' })).status).toBe(200)
    for (let n = 0; n < 50; n += 1) await on.end(`f-${n}`, full)
  })

  test('sends an address few mails by creating the resource again, and leaves one to people', async () => {
    const email = 'mailed@example.com'
    const limited = [429, 'rate_limited']
    const replies = []
    for (const namespace of ['team-a', 'team-a', 'team-b']) {
      replies.push(outcome(await on.declare('again', email, { namespace })))
      await on.end('again', { namespace })
    }
    expect(replies).toEqual([[200, undefined], [200, undefined], limited])
    const members = `${root}/projects/${on.project}/members`
    const body = { email, role: 'viewer' }
    const invite = () => on.app.call('POST', members, { token: on.owner, body })
    expect([(await invite()).status, outcome(await invite())]).toEqual([201, limited])
  })

  test('finds no token of an invitation in replies, lists or logs', async () => {
    const email = 'secret@example.com'
    const texts = [(await on.declare('secret', email)).text]
    const token = on.mailed(email)
    expect(token).toMatch(/^lti_/)
    texts.push(JSON.stringify(await on.read('secret')))
    on.failMails(new Error('550'))
    texts.push((await on.declare('failing', 'failing@example.com')).text)
    on.failMails()
    const invitations = `${root}/organizations/${on.organization_id}/invitations?limit=200`
    texts.push((await on.app.call('GET', invitations, { token: on.owner })).text)
    await on.accept(token)
    texts.push(on.app.logged(), on.plain.logged())
    expect(texts.filter((text) => /lti_[0-9A-Za-z]{43}/.test(text))).toEqual([])
  })
})

describe('a project of two clusters', () => {
  const projectUrl = (id: string) => `${root}/projects/${id}`
  const put = (id: string, name: string, more: Declared & { adopt?: boolean }) => {
    const { adopt = false, ...owner } = more
    const managed_by = declarer('Project', 'checkout', owner)
    const body = { organization: 'default', name, adopt, managed_by }
    return on.app.call('PUT', projectUrl(id), { key: on.plain.operator_key, body })
  }
  const remove = (id: string, more: Declared, retain = false) => {
    const path = `${projectUrl(id)}?${declarerQuery('Project', 'checkout', more)}`
    const key = on.plain.operator_key
    return on.app.call('DELETE', retain ? `${path}&retain=true` : path, { key })
  }
  const read = async (id: string) =>
    (await on.app.call('GET', projectUrl(id), { token: on.owner })).body

  test('belongs to the first: the other neither takes, adopts nor archives it', async () => {
    const id = newId()
    expect((await put(id, 'first wins', { installation: one })).status).toBe(201)
    const managed = [409, 'managed_by_kubernetes']
    const other = { installation: two, uid: 'other' }
    expect(outcome(await put(id, 'first wins', other))).toEqual(managed)
    expect(outcome(await put(id, 'first wins', { ...other, adopt: true }))).toEqual(managed)
    expect(outcome(await remove(id, other))).toEqual(managed)
    expect((await read(id)).managed_by).toMatchObject({ installation: one, uid: 'uid-checkout' })
  })

  test('that no one made is not created by an adoption', async () => {
    const id = newId()
    const adopted = await put(id, 'squatted', { installation: one, adopt: true })
    expect(outcome(adopted)).toEqual([404, 'project_not_found'])
    expect((await put(newId(), 'squatted', { installation: one })).status).toBe(201)
  })

  test('of another organization or name is not taken, although a resource names its id', async () => {
    const other = { token: on.owner, body: { name: 'elsewhere' } }
    const made = await on.app.call('POST', `${root}/organizations`, other)
    const projects = `${root}/organizations/${made.body.id}/projects`
    const target = { token: on.owner, body: { name: 'target' } }
    const { id } = (await on.app.call('POST', projects, target)).body
    const taken = [409, 'name_taken']
    for (const name of ['target', 'renamed']) {
      for (const adopt of [false, true]) {
        expect(outcome(await put(id, name, { installation: one, adopt }))).toEqual(taken)
      }
    }
    expect((await remove(id, { installation: one })).status).toBe(204)
    expect(await read(id)).toMatchObject({ id, name: 'target', managed_by: null })
    const second = await put(newId(), 'target', { installation: one })
    expect(second.body.organization_id).toBe(on.organization_id)
  })

  test('that one released is declared again by its namespace in the same cluster only', async () => {
    const id = newId()
    await put(id, 'released', { installation: one })
    expect((await remove(id, { installation: one }, true)).status).toBe(204)
    const other = { installation: two, uid: 'other' }
    expect(outcome(await put(id, 'released', other))).toEqual([409, 'name_taken'])
    expect((await put(id, 'released', { installation: one, uid: 'new' })).status).toBe(200)
  })
})
