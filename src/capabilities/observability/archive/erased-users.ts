import type { Kysely, RetentionTables } from '../../../platform/relational/index.ts'
import { userDigest } from '../retention/index.ts'

/**
 * Tells the users of a project whose data was deleted on request, as of now. What is kept of them
 * is a digest, so each user that is asked for is hashed under the project's key.
 */
export async function readErasedUsers(
  db: Kysely<RetentionTables>,
  project_id: string,
): Promise<(user_id: string) => boolean> {
  const found = await db
    .selectFrom('erasure_keys')
    .select('key')
    .where('project_id', '=', project_id)
    .executeTakeFirst()
  if (found === undefined) return () => false
  const erasures = await db
    .selectFrom('erasures')
    .select('user_id_digest')
    .where('project_id', '=', project_id)
    .execute()
  const digests = new Set(erasures.map(({ user_id_digest }) => user_id_digest.toString('hex')))
  return (user_id) => digests.has(userDigest(found.key, user_id).toString('hex'))
}
