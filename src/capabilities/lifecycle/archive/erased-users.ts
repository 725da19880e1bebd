import { type Kysely, type RetentionTables, sql } from '../../../platform/relational/index.ts'
import { userDigest } from '../retention/index.ts'

/** The erased users of a project, as digests, and their traces. */
export type ErasedUsers = {
  /** How many erasures there are; a later one makes it another number. */
  version: number
  /** False once an erasure was asked for since. */
  isCurrent: () => Promise<boolean>
  isErased: (user_id: string) => boolean
  /** Those of the traces that erasures noted as an erased user's. */
  erasedTraces: (trace_ids: readonly string[]) => Promise<string[]>
}

/** Reads the erased users of a project, as of now. */
export type ReadErasedUsers = (project_id: string) => Promise<ErasedUsers>

/** Traces of one statement. */
const traces_max = 10_000
/** Users of which it is remembered whether they were erased. */
const known_max = 100_000

/**
 * Reads the erased users of a project. Only digests of them are kept, so `isErased` hashes the user's
 * id under the project's key.
 */
export async function readErasedUsers(
  db: Kysely<RetentionTables>,
  project_id: string,
): Promise<ErasedUsers> {
  const found = await db
    .selectFrom('erasure_keys')
    .select('key')
    .where('project_id', '=', project_id)
    .executeTakeFirst()
  const erasures = await db
    .selectFrom('erasures')
    .select('user_id_digest')
    .where('project_id', '=', project_id)
    .execute()
  const digests = new Set(erasures.map(({ user_id_digest }) => user_id_digest.toString('hex')))
  const known = new Map<string, boolean>()
  const isErased = (user_id: string): boolean => {
    if (found === undefined || user_id === '') return false
    const is_erased =
      known.get(user_id) ?? digests.has(userDigest(found.key, user_id).toString('hex'))
    if (known.size < known_max) known.set(user_id, is_erased)
    return is_erased
  }
  return {
    version: erasures.length,
    isCurrent: async () => (await countErasures(db, project_id)) === erasures.length,
    isErased,
    erasedTraces: async (trace_ids) => {
      const erased: string[] = []
      for (let at = 0; at < trace_ids.length && digests.size > 0; at += traces_max) {
        const some = trace_ids.slice(at, at + traces_max)
        erased.push(...(await tracesAmong(db, project_id, some)))
      }
      return erased
    },
  }
}

async function countErasures(db: Kysely<RetentionTables>, project_id: string): Promise<number> {
  const { erasures } = await db
    .selectFrom('erasures')
    .select(({ fn }) => fn.countAll<number>().as('erasures'))
    .where('project_id', '=', project_id)
    .executeTakeFirstOrThrow()
  return Number(erasures)
}

async function tracesAmong(
  db: Kysely<RetentionTables>,
  project_id: string,
  trace_ids: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ trace_id: string }>`
    select distinct trace_id from erased_traces
    where project_id = ${project_id} and trace_id = any(${[...trace_ids]}::uuid[])`.execute(db)
  return rows.map(({ trace_id }) => trace_id)
}

/** True while an erasure of the project is under way, or when one has ended since an instant. */
export async function isErasedSince(
  db: Kysely<RetentionTables>,
  project_id: string,
  since: Date,
): Promise<boolean> {
  const found = await db
    .selectFrom('erasures')
    .select('id')
    .where('project_id', '=', project_id)
    .where((eb) => eb.or([eb('ended_at', 'is', null), eb('ended_at', '>=', since.toISOString())]))
    .executeTakeFirst()
  return found !== undefined
}
