import { problem } from '../../../kernel/problem.ts'
import type { KeyScope } from '../../../kernel/scopes.ts'
import type { AccessTables, Kysely } from '../../../platform/relational/index.ts'

type Db = Kysely<AccessTables>

/** Returns those of some scopes that the project and its organization allow for keys. */
export async function allowedScopes(
  db: Db,
  { project_id, scopes }: { project_id: string; scopes: readonly KeyScope[] },
): Promise<KeyScope[]> {
  const row = await db
    .selectFrom('projects')
    .innerJoin('organizations', 'organizations.id', 'projects.organization_id')
    .select(['projects.key_scopes as project', 'organizations.key_scopes as organization'])
    .where('projects.id', '=', project_id)
    .executeTakeFirst()
  const limits = [row?.project, row?.organization]
  return scopes.filter((scope) => limits.every((limit) => limit?.includes(scope) ?? true))
}

/**
 * Throws `invalid_request` for scopes that the project or its organization does not allow for keys.
 * A later change of the limit needs no check: a key has only the scopes that are allowed when it is
 * used.
 */
export async function admitScopes(
  db: Db,
  wanted: { project_id: string; scopes: readonly KeyScope[] },
): Promise<void> {
  const allowed = await allowedScopes(db, wanted)
  const beyond = wanted.scopes.filter((scope) => !allowed.includes(scope))
  if (beyond.length === 0) return
  const detail = `got ${beyond.join(' ')}, expected scopes within the limit of the project and its organization`
  throw problem('invalid_request', {
    detail: `/scopes: ${detail}`,
    faults: [{ pointer: '/scopes', detail }],
  })
}
