import { sql } from '../../platform/relational/index.ts'
import type { ErasureTarget } from '../storage/index.ts'
import { lockSealing, parseReads } from './reads/unsealed-reads.ts'
import { waitForStreams } from './stream/store.ts'
import type { AuditDb } from './trail/append.ts'

/** A person in a chain, and the time of the erasure in ISO 8601. */
type Erased = { chain_id: string; user_id: string; erased_at: string }

/** Counts of erased details. */
type ErasedDetails = { origins: number; changes: number }

/**
 * Erases the details of a person from a chain: address and client of the person's calls, the values
 * of changes of the person's account, and the values of changes that name the person by id or
 * e-mail. The chain still verifies, because it contains only hashes of the details. The salts are
 * erased too. No stream sends an erased detail after this resolves.
 */
export async function erasePerson(db: AuditDb, person: Erased): Promise<ErasedDetails> {
  const erased = await eraseStored(db, person)
  await waitForStreams(db)
  return erased
}

function eraseStored(
  db: AuditDb,
  { chain_id, user_id, erased_at }: Erased,
): Promise<ErasedDetails> {
  return db.transaction().execute(async (trx) => {
    await lockSealing(trx, chain_id)
    await noteErasure(trx, { chain_id, user_id, erased_at })
    const user = await trx
      .selectFrom('users')
      .select('email')
      .where('id', '=', user_id)
      .executeTakeFirst()
    const noOrigin = { origin_salt: null, origin_value: null }
    const records = await trx
      .updateTable('audit_records')
      .set(noOrigin)
      .where('chain_id', '=', chain_id)
      .where('actor_id', '=', user_id)
      .where('origin_value', 'is not', null)
      .executeTakeFirst()
    const unsealed = await eraseUnsealed(trx, { chain_id, actor_id: user_id })
    const sealed = await trx
      .updateTable('audit_reads')
      .set(noOrigin)
      .where('chain_id', '=', chain_id)
      .where('actor_id', '=', user_id)
      .where('origin_value', 'is not', null)
      .executeTakeFirst()
    const named = { id: user_id, ...(user && { email: user.email.toLowerCase() }) }
    const own = await trx
      .updateTable('audit_records')
      .set({ change_salt: null, change_value: null })
      .where('chain_id', '=', chain_id)
      .where('actor_id', '=', user_id)
      .where('resource_type', 'like', 'auth/%')
      .where('change_value', 'is not', null)
      .executeTakeFirst()
    const others = await eraseChanges(trx, sql<boolean>`chain_id = ${chain_id}::uuid`, named)
    const changes = Number(own.numUpdatedRows) + others
    const origins = unsealed + Number(records.numUpdatedRows + sealed.numUpdatedRows)
    return { origins, changes }
  })
}

/**
 * Notes the erasure for reads of the person that are in journals: they are sealed without origin.
 */
async function noteErasure(db: AuditDb, erased: Erased): Promise<void> {
  const { erased_at } = erased
  await db
    .insertInto('audit_erasures')
    .values(erased)
    .onConflict((conflict) => conflict.columns(['chain_id', 'user_id']).doUpdateSet({ erased_at }))
    .execute()
}

/** Erases the origins of a person's unsealed reads, and returns their number. */
async function eraseUnsealed(
  db: AuditDb,
  { chain_id, actor_id }: { chain_id: string; actor_id: string },
): Promise<number> {
  const rows = await db
    .selectFrom('audit_read_batches')
    .select(['id', 'reads'])
    .where('chain_id', '=', chain_id)
    .orderBy('id')
    .forUpdate()
    .execute()
  let erased = 0
  for (const row of rows) {
    const reads = parseReads([row])
    const own = reads.filter((read) => read.actor_id === actor_id && read.origin_value !== null)
    if (own.length === 0) continue
    erased += own.length
    for (const read of own) Object.assign(read, { origin_salt: null, origin_value: null })
    await db
      .updateTable('audit_read_batches')
      .set({ reads: JSON.stringify(reads) })
      .where('id', '=', row.id)
      .execute()
  }
  return erased
}

/** Erases the values of changes of a project that name end users, such as in legal holds. */
export function openAuditErasure({ db }: { db: AuditDb }): ErasureTarget {
  return {
    eraseUser: async ({ project_id, user_id }) => {
      await eraseChanges(db, sql<boolean>`project_id = ${project_id}::uuid`, { id: user_id })
      await waitForStreams(db)
    },
  }
}

/** Records read at a time: a value has at most 16 KiB. */
const page_records = 500

/** Erases the changes with a value that equals a name. A name within a longer value stays. */
async function eraseChanges(
  db: AuditDb,
  where: ReturnType<typeof sql<boolean>>,
  named: Names,
): Promise<number> {
  // PostgreSQL finds records with a quoted name; parsing the JSON excludes keys and parts of texts.
  const has = (value: string) =>
    sql`strpos(lower(change_value), lower(${JSON.stringify(value)})) > 0`
  const values = [named.id, ...(named.email === undefined ? [] : [named.email])]
  const isCandidate = sql<boolean>`(${sql.join(values.map(has), sql` or `)})`
  let after = { chain_id: firstChain, seq: 0 }
  let erased = 0
  for (;;) {
    const page = await db
      .selectFrom('audit_records')
      .select(['chain_id', 'seq', 'change_value'])
      .where(where)
      .where('change_value', 'is not', null)
      .where(isCandidate)
      .where(sql<boolean>`(chain_id, seq) > (${after.chain_id}::uuid, ${after.seq}::bigint)`)
      .orderBy('chain_id')
      .orderBy('seq')
      .limit(page_records)
      .execute()
    const found = page.filter(({ change_value }) =>
      names(JSON.parse(change_value ?? 'null'), named),
    )
    erased += await eraseRecords(db, found)
    const last = page.at(-1)
    if (last === undefined || page.length < page_records) return erased
    after = { chain_id: last.chain_id, seq: last.seq }
  }
}

const firstChain = '00000000-0000-0000-0000-000000000000'

async function eraseRecords(
  db: AuditDb,
  records: readonly { chain_id: string; seq: number }[],
): Promise<number> {
  if (records.length === 0) return 0
  const { numUpdatedRows } = await db
    .updateTable('audit_records')
    .set({ change_salt: null, change_value: null })
    .where(({ or, and, eb }) =>
      or(
        records.map(({ chain_id, seq }) =>
          and([eb('chain_id', '=', chain_id), eb('seq', '=', seq)]),
        ),
      ),
    )
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}

/** A person: the id exactly as written, the e-mail (lower case) in any case. */
type Names = { id: string; email?: string }

/** Returns whether a text in the value, at any depth, is a name. */
function names(value: unknown, named: Names): boolean {
  if (typeof value === 'string') {
    return value === named.id || (named.email !== undefined && value.toLowerCase() === named.email)
  }
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some((item) => names(item, named))
}
