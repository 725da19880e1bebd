import { isUuid, newId } from '../../../kernel/ids.ts'
import { firstKeyScopes } from '../../../kernel/scopes.ts'
import type { AccessTables, Kysely } from '../../../platform/relational/index.ts'
import { givenKey, type NewKey, newKey, randomBase62 } from '../keys/project-key.ts'
import { insertKey } from '../keys/store.ts'
import { registerOperatorKey } from '../operator-keys/store.ts'
import { keepOnlyProject } from '../roles/store.ts'
import { installationAdmin, lockBootstrap } from './store.ts'

/** Configured secrets of the first start, for example from a Kubernetes Secret. */
export type GivenSecrets = {
  /** Id of the first project. */
  project_id?: string | undefined
  /** A key of that project, `lt_…`. */
  project_key?: string | undefined
  /** The key of a cluster's operator, `lt_op_…`. */
  operator_key?: string | undefined
  /** Password of the first administrator. */
  admin_password?: string | undefined
}

/** A configured value is refused. The message says why, and quotes no secret. */
export class GivenSecretRefused extends Error {
  override readonly name = 'GivenSecretRefused'
}

/** Creates new values for all of them. Save them first, then pass them to `bootstrap`. */
export function mintGivenSecrets(): Required<{ [K in keyof GivenSecrets]: string }> {
  return {
    project_id: newId(),
    project_key: newKey('project').key,
    operator_key: newKey('operator').key,
    admin_password: randomBase62(24),
  }
}

/**
 * Checks given values and returns what to store. Throws `GivenSecretRefused` for a malformed one.
 */
export function checkSecrets(given: GivenSecrets): {
  project_id: string | undefined
  project_key: NewKey | undefined
  operator_key: NewKey | undefined
} {
  const { project_id, project_key, operator_key } = given
  if (project_id !== undefined && !isUuid(project_id)) {
    throw new GivenSecretRefused(`the project id "${project_id.slice(0, 80)}" is not a UUID`)
  }
  return {
    project_id: project_id?.toLowerCase(),
    project_key: checkKey('project', project_key),
    operator_key: checkKey('operator', operator_key),
  }
}

const forms = {
  project: 'the project key: expected lt_, 8 letters or digits, _ and 32 letters or digits',
  operator: 'the operator key: expected lt_op_, 8 letters or digits, _ and 32 letters or digits',
}

function checkKey(kind: keyof typeof forms, key: string | undefined): NewKey | undefined {
  if (key === undefined) return undefined
  const checked = givenKey(kind, key)
  if (checked === undefined) throw new GivenSecretRefused(forms[kind])
  return checked
}

type Db = Kysely<AccessTables>

/** The checked values of a start. */
type Given = {
  project_id: string | undefined
  project_key: NewKey | undefined
  operator_key: NewKey | undefined
  login: { email: string; hash: () => Promise<string> } | undefined
  /** Name of the project, if one has to be created. */
  project_name: string
  now: Date
}

/** Maximum valid operator keys: more than a cluster and its successor need. */
const maxOperatorKeysActive = 8

/**
 * Adds the given values that the store does not know. It changes nothing that exists and restores
 * nothing that was revoked. Throws `GivenSecretRefused` for a value that cannot be added.
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
  const outcome = await registerOperatorKey(trx, row, maxOperatorKeysActive)
  if (outcome === 'another') throw prefixTaken('operator key', key)
  if (outcome !== 'too_many') return
  throw new GivenSecretRefused(
    `the operator key ${key.prefix}_… is new, and ${maxOperatorKeysActive} are valid already: ` +
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
    throw prefixTaken('project key', about.project_key)
  }
  await insertKey(trx, {
    ...stored,
    id: newId(),
    project_id: about.project_id,
    service_account_id: null,
    name: 'given key',
    scopes: firstKeyScopes,
    created_at: about.now,
    created_by: null,
    environment: null,
    expires_at: null,
  })
}

function prefixTaken(kind: string, { prefix }: NewKey): Error {
  return new GivenSecretRefused(
    `the ${kind} ${prefix}_… cannot be used: a key with another secret or of another project has the same prefix`,
  )
}

async function addProject(
  trx: Db,
  {
    project_id: id,
    organization_id,
    project_name: name,
    now: created_at,
  }: { project_id: string; organization_id: string; project_name: string; now: Date },
): Promise<void> {
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
  await keepOnlyProject(trx, { admins_of: organization_id })
  await trx.insertInto('projects').values({ id, organization_id, name: free, created_at }).execute()
}

/** Adds the owner unless the e-mail exists. An existing user may have set a password since. */
async function addOwner(
  trx: Db,
  {
    email,
    hash,
    organization_id,
    now: created_at,
  }: { email: string; hash: () => Promise<string>; organization_id: string; now: Date },
): Promise<void> {
  const known = await trx
    .selectFrom('users')
    .select('id')
    .where('email', '=', email)
    .executeTakeFirst()
  if (known !== undefined) return
  const id = newId()
  await trx
    .insertInto('users')
    .values({
      id,
      email,
      display_name: 'Administrator',
      password_hash: await hash(),
      created_at,
      ...installationAdmin(created_at),
    })
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
  throw new GivenSecretRefused('the store has users but no organization for the project')
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
