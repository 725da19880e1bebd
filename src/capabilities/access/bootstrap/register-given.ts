import { newId } from '../../../kernel/ids.ts'
import { defaultKeyScopes } from '../../../kernel/scopes.ts'
import type { AccessTables, Kysely } from '../../../platform/relational/index.ts'
import type { NewKey } from '../keys/project-key.ts'
import { insertKey } from '../keys/store.ts'
import { registerOperatorKey } from '../operator-keys/store.ts'
import { GivenSecretRefused } from './given-secrets.ts'
import { lockBootstrap } from './store.ts'

type Db = Kysely<AccessTables>

/** What a start was given and is to make good. */
export type Given = {
  project_id: string | undefined
  project_key: NewKey | undefined
  operator_key: NewKey | undefined
  login: { email: string; hash: () => Promise<string> } | undefined
  /** Name of the project where one has to be made. */
  project_name: string
  now: Date
}

/** Operators that may sign in at once. More than a cluster and its successor need. */
export const operatorKeysActive_max = 8

/**
 * Adds those of the given values that are not known: nothing is changed and nothing comes back that
 * was revoked. Throws `GivenSecretRefused` where a value can't be had.
 */
export async function registerGiven(db: Db, given: Given): Promise<void> {
  const { operator_key, project_id, project_key, login } = given
  if ([operator_key, project_id, project_key, login].every((one) => one === undefined)) return
  await db.transaction().execute(async (trx) => {
    await lockBootstrap(trx)
    if (operator_key !== undefined) await addOperatorKey(trx, operator_key, given.now)
    const organization_id = await firstOrganization(trx)
    if (login !== undefined) await addOwner(trx, { ...login, organization_id, now: given.now })
    if (project_id !== undefined) await addProject(trx, { ...given, project_id, organization_id })
    if (project_key !== undefined) {
      const into = project_id ?? (await firstProject(trx, organization_id))
      await addProjectKey(trx, { project_key, project_id: into, now: given.now })
    }
  })
}

async function addOperatorKey(trx: Db, key: NewKey, now: Date): Promise<void> {
  const row = { ...key, id: newId(), created_at: now }
  const outcome = await registerOperatorKey(trx, row, operatorKeysActive_max)
  if (outcome === 'another') throw taken('operator key', key)
  if (outcome !== 'too_many') return
  throw new GivenSecretRefused(
    `the operator key ${key.prefix}_… is new, and ${operatorKeysActive_max} are good already: ` +
      'revoke one with DELETE /api/v2/access/operator-keys/{operator_key_id}',
  )
}

async function addProjectKey(
  trx: Db,
  about: { project_key: NewKey; project_id: string; now: Date },
): Promise<void> {
  const { key: _shownNowhere, ...stored } = about.project_key
  const known = await trx
    .selectFrom('api_keys')
    .select(['secret_hash', 'project_id'])
    .where('prefix', '=', stored.prefix)
    .executeTakeFirst()
  if (known !== undefined) {
    const isIt = known.secret_hash.equals(stored.secret_hash)
    if (isIt && known.project_id === about.project_id) return
    throw taken('project key', about.project_key)
  }
  await insertKey(trx, {
    ...stored,
    id: newId(),
    project_id: about.project_id,
    service_account_id: null,
    name: 'given key',
    scopes: defaultKeyScopes,
    created_at: about.now,
    created_by: null,
    environment: null,
    expires_at: null,
  })
}

function taken(what: string, { prefix }: NewKey): Error {
  return new GivenSecretRefused(
    `the ${what} ${prefix}_… can not be taken: a key of another project or with another secret has its prefix`,
  )
}

async function addProject(
  trx: Db,
  about: { project_id: string; organization_id: string; project_name: string; now: Date },
): Promise<void> {
  const { project_id: id, organization_id, project_name: name, now: created_at } = about
  const known = await trx
    .selectFrom('projects')
    .select('id')
    .where('id', '=', id)
    .executeTakeFirst()
  if (known !== undefined) return
  const others = await trx
    .selectFrom('projects')
    .select('id')
    .where('organization_id', '=', organization_id)
    .where('name', '=', name)
    .executeTakeFirst()
  const free = others === undefined ? name : `${name} ${id}`
  await trx.insertInto('projects').values({ id, organization_id, name: free, created_at }).execute()
}

/** Nobody's password is changed: whoever has the e-mail may have set one of their own since. */
async function addOwner(
  trx: Db,
  about: { email: string; hash: () => Promise<string>; organization_id: string; now: Date },
): Promise<void> {
  const { email, hash, organization_id, now: created_at } = about
  const known = await trx
    .selectFrom('users')
    .select('id')
    .where('email', '=', email)
    .executeTakeFirst()
  if (known !== undefined) return
  const id = newId()
  await trx
    .insertInto('users')
    .values({ id, email, display_name: 'Administrator', password_hash: await hash(), created_at })
    .execute()
  await trx
    .insertInto('organization_members')
    .values({ organization_id, user_id: id, role: 'owner', created_at })
    .execute()
}

async function firstOrganization(trx: Db): Promise<string> {
  const row = await trx
    .selectFrom('organizations')
    .select('id')
    .orderBy('created_at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
  if (row !== undefined) return row.id
  throw new GivenSecretRefused('the store has people and no organization to give a project to')
}

async function firstProject(trx: Db, organization_id: string): Promise<string> {
  const row = await trx
    .selectFrom('projects')
    .select('id')
    .where('organization_id', '=', organization_id)
    .where('archived_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
  if (row !== undefined) return row.id
  throw new GivenSecretRefused('the first organization has no project for the given key')
}
