import { newId } from '../../../kernel/ids.ts'
import { firstKeyScopes } from '../../../kernel/scopes.ts'
import type { Clock } from '../../../kernel/time.ts'
import type { AccessTables, Kysely } from '../../../platform/relational/index.ts'
import { newKey, randomBase62 } from '../keys/project-key.ts'
import { createPasswordHasher, type PasswordHasher } from '../passwords/password-hasher.ts'
import { checkSecrets, type GivenSecrets, registerGiven } from './given-secrets.ts'
import { insertFirst, installationAdmin } from './store.ts'

/**
 * Secrets of the first start. The store has only hashes of them: show them once.
 */
export type BootstrapSecrets = {
  organization_id: string
  project_id: string
  admin_email: string
  admin_password: string
  project_key: string
}

export type BootstrapOptions = GivenSecrets & {
  db: Kysely<AccessTables>
  clock: Clock
  /** Login of the first administrator. */
  admin_email?: string | undefined
  /** Names of the first organization and project. */
  organization?: string
  project?: string
  /**
   * Saves the secrets (to a file or a Secret) before they take effect. If it fails, nothing is
   * created, so that a crash cannot lose them.
   */
  deliver?: (secrets: BootstrapSecrets) => Promise<void>
  passwords?: PasswordHasher
}

/**
 * Creates the first organization with its owner, project and project key when the store has no user
 * and no organization yet; returns null otherwise. Of several processes that start at once, only
 * one creates them.
 *
 * Given secrets are used instead of new ones. At every start, given secrets that the store does not
 * know are added, also to an existing organization. A revoked key stays revoked, and an existing
 * user keeps their password. Throws `GivenSecretRefused`.
 */
export async function bootstrap(options: BootstrapOptions): Promise<BootstrapSecrets | null> {
  const { db, clock, passwords = createPasswordHasher() } = options
  const { admin_email = 'admin@looptrace.local', organization = 'default' } = options
  const { admin_password = randomBase62(24), project = 'default', deliver } = options
  const given = checkSecrets(options)
  const now = new Date(clock.now_ms())
  const { key, ...stored } = given.project_key ?? newKey('project')
  const ids = { organization_id: newId(), project_id: given.project_id ?? newId() }
  const secrets = {
    ...ids,
    admin_email: admin_email.toLowerCase(),
    admin_password,
    project_key: key,
  }
  const made = await insertFirst(db, async () => {
    const user_id = newId()
    return {
      organization: { id: ids.organization_id, name: organization, created_at: now },
      user: {
        id: user_id,
        email: secrets.admin_email,
        display_name: 'Administrator',
        password_hash: await passwords.hash(admin_password),
        created_at: now,
        ...installationAdmin(now),
      },
      project: {
        id: ids.project_id,
        organization_id: ids.organization_id,
        name: project,
        created_at: now,
      },
      key: {
        ...firstKey,
        ...stored,
        id: newId(),
        project_id: ids.project_id,
        created_at: now,
        created_by: user_id,
      },
      deliver: async () => deliver?.(secrets),
    }
  })
  await registerGiven(db, {
    ...given,
    now,
    project_name: project,
    login:
      options.admin_password === undefined
        ? undefined
        : {
            email: secrets.admin_email,
            hash: () => passwords.hash(admin_password),
          },
  })
  return made ? secrets : null
}

const firstKey = {
  service_account_id: null,
  name: 'first key',
  scopes: firstKeyScopes,
  environment: null,
  expires_at: null,
}
