import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { admit } from '../../src/capabilities/access/oidc/sign-in.ts'
import { newId } from '../../src/kernel/ids.ts'
import { routeCatalogue } from '../../src/roles/catalogues.ts'
import { type AccessApp, type Person, startAccessApp } from '../support/access-app.ts'

const access = '/api/v2/access'

/** Routes that can lower, remove or disable an owner of an organization that stays. */
const canEndOwner = [
  ...['disableUser', 'leaveOrganization', 'putOrganizationMember', 'removeOrganizationMember'],
]

/**
 * Changes of access that were reviewed: they end no role of an organization, or the organization.
 */
const endsNoOwner = [
  ...['createOrganization', 'putOrganization', 'deleteOrganization', 'addOrganizationMember'],
  ...['revokeInvitation', 'resendInvitation', 'createProject', 'putProject', 'deleteProject'],
  ...[
    'putProjectTaskRules',
    'putProjectEnvironments',
    'putProjectSettings',
    'archiveProject',
    'unarchiveProject',
  ],
  ...['setProjectMember', 'inviteProjectMember', 'removeProjectMember', 'putDeclaredMember'],
  ...['deleteDeclaredMember', 'createApiKey', 'revokeApiKey', 'rotateApiKey', 'setApiKeyScopes'],
  ...['createServiceAccount', 'putServiceAccount', 'deleteServiceAccount', 'resumeServiceAccount'],
  ...['disableServiceAccount', 'enableServiceAccount', 'createServiceAccountKey', 'createUser'],
  ...['revokeOperatorKey', 'setUserPassword', 'enableUser', 'endUserSessions', 'putAdministrator'],
  ...['createPasswordReset', 'unlinkUserIdentities', 'putInstallationGrants'],
]

let app: AccessApp
let admin: string
let people: Person[]

beforeAll(async () => {
  app = await startAccessApp()
  admin = await app.signIn(app.first.admin_email, app.first.admin_password)
  people = []
  for (const n of [1, 2, 3]) people.push(await app.person(`owner-${n}@example.com`, 'member'))
  const identities = people.map(({ user_id }) => ({
    ...{ ...issuer, subject: user_id, user_id, created_at: new Date() },
  }))
  await app.relational.db.insertInto('user_identities').values(identities).execute()
})
afterAll(() => app.close())

test('every change of access is known to end an owner, or to end none', () => {
  const changes = routeCatalogue().filter(
    ({ method, url }) => method !== 'GET' && url.startsWith(access),
  )
  expect(changes.map(({ id }) => id).toSorted()).toEqual(
    [...canEndOwner, ...endsNoOwner].toSorted(),
  )
})

/** The client at the external issuer to which the people are linked. */
const issuer = { issuer: 'https://issuer.test', client_id: 'looptrace' }

const acts = ['leave', 'lower', 'remove', 'disable', 'enable'] as const
/** Groups of a person who signs in at the external issuer: each gives a role, `no group` none. */
const groups = ['owners', 'members', 'no group'] as const
type Step = { by: number; on: number; act: (typeof acts)[number] | (typeof groups)[number] }

const step = fc.record<Step>({
  by: fc.nat(3),
  on: fc.nat(2),
  act: fc.constantFrom(...acts, ...groups),
})
/** Steps of one batch run at once. */
const batches = fc.array(fc.array(step, { minLength: 2, maxLength: 5 }), { maxLength: 4 })

test('an organization keeps an owner who can sign in, while owners and groups change roles at once', async () => {
  await fc.assert(
    fc.asyncProperty(batches, fc.array(fc.boolean()), async (all, by_group) => {
      const organization_id = await ownedByAll(by_group)
      for (const steps of all) {
        await Promise.all(steps.map((one) => run(one, organization_id)))
        expect(await activeOwners(organization_id)).toBeGreaterThan(0)
      }
    }),
    { numRuns: 25 },
  )
})

/**
 * Creates an organization whose owners are the three people, all enabled. `by_group` says of each
 * whether a group made the person an owner.
 */
async function ownedByAll(by_group: readonly boolean[]): Promise<string> {
  const { db } = app.relational
  const id = newId()
  const ids = people.map(({ user_id }) => user_id)
  await db.deleteFrom('organization_members').where('user_id', 'in', ids).execute()
  const signedIn = { disabled_at: null, session_number: 0 }
  await db.updateTable('users').set(signedIn).where('id', 'in', ids).execute()
  await db.insertInto('organizations').values({ id, name: id }).execute()
  const members = ids.map((user_id, n) => ({
    ...{ organization_id: id, user_id, role: 'owner' as const, by_group: by_group[n] ?? false },
  }))
  await db.insertInto('organization_members').values(members).execute()
  app.access.roles.forget()
  return id
}

/** Signs a person in at the external issuer; a disabled person is refused. */
async function arrive(subject: string, group: string, organization: string): Promise<void> {
  const mapping = [
    { group: 'owners', organization, role: 'owner' as const },
    { group: 'members', organization, role: 'member' as const },
  ]
  const named = { subject, email: undefined, display_name: 'Ada', groups: [group] }
  const person = { ...issuer, subjects: 'public' as const, ...named }
  const now = new Date()
  await admit(app.relational.db, { person, mapping, now }).catch((error: unknown) => {
    if (!String(error).includes('disabled')) throw error
  })
}

function run({ by, on, act }: Step, organization_id: string): Promise<unknown> {
  const organization = `${access}/organizations/${organization_id}`
  const { user_id = '', token: own } = people[on] ?? {}
  // The fourth caller is the administrator of the installation.
  const token = people[by]?.token ?? admin
  const member = `${organization}/members/${user_id}`
  const calls = {
    leave: () => app.call('POST', `${organization}/leave`, { token: own }),
    lower: () => app.call('PUT', member, { token, body: { role: 'member' } }),
    remove: () => app.call('DELETE', member, { token }),
    disable: () => app.call('POST', `${access}/users/${user_id}/disable`, { token: admin }),
    enable: () => app.call('POST', `${access}/users/${user_id}/enable`, { token: admin }),
    owners: () => arrive(user_id, act, organization_id),
    members: () => arrive(user_id, act, organization_id),
    'no group': () => arrive(user_id, act, organization_id),
  }
  return calls[act]()
}

async function activeOwners(organization_id: string): Promise<number> {
  const rows = await app.relational.db
    .selectFrom('organization_members')
    .innerJoin('users', 'users.id', 'organization_members.user_id')
    .select('users.id')
    .where('organization_id', '=', organization_id)
    .where('organization_members.role', '=', 'owner')
    .where('users.disabled_at', 'is', null)
    .execute()
  return rows.length
}
