import { canonicalJson } from '../../../kernel/canonical-json.ts'
import type { ManagedBy, ResourceName } from '../../../model/managed-by.ts'
import {
  type CertificationTables,
  countUpTo,
  type Kysely,
  ownedBy,
  type Selectable,
  sql,
} from '../../../platform/relational/index.ts'
import {
  digestPolicy,
  type PolicyDocument,
  type PolicyRules,
  toPolicyDocument,
} from '../policy/policy.ts'

/** The database of policies. */
export type PolicyDb = Kysely<CertificationTables>

/** Names a policy of a project. */
export type WhichPolicy = { project_id: string; policy_id: string }

/** A policy with its current version. */
export type StoredPolicy = WhichPolicy & {
  version: number
  digest: string
  document: PolicyDocument
  managed_by: ManagedBy | null
  created_at: string
  created_by: string
  updated_at: string
  updated_by: string
  /** Set for a deleted policy, whose versions remain. */
  deleted_at: string | null
}

/** A version of a policy. */
export type StoredVersion = Pick<
  StoredPolicy,
  'policy_id' | 'version' | 'digest' | 'document' | 'created_at' | 'created_by'
>

function policiesOf(db: PolicyDb, project_id: string) {
  return db
    .selectFrom('certification_policies as policies')
    .innerJoin('certification_policy_versions as versions', (join) =>
      join
        .onRef('versions.project_id', '=', 'policies.project_id')
        .onRef('versions.policy_id', '=', 'policies.policy_id')
        .onRef('versions.version', '=', 'policies.version'),
    )
    .selectAll('policies')
    .select(['versions.digest', 'versions.document'])
    .where('policies.project_id', '=', project_id)
}

/** Finds a policy of a project that is not deleted. */
export async function findPolicy(
  db: PolicyDb,
  { project_id, policy_id }: WhichPolicy,
): Promise<StoredPolicy | undefined> {
  const row = await policiesOf(db, project_id)
    .where('policies.policy_id', '=', policy_id)
    .where('policies.deleted_at', 'is', null)
    .executeTakeFirst()
  return row as StoredPolicy | undefined
}

/** Filters of a list of policies. */
export type PolicyFilter = { project_id: string; managed_by?: ResourceName | undefined }

/** Returns a page of policies by id, and counts the matches up to `count_max`. */
export async function selectPolicies(
  db: PolicyDb,
  { project_id, managed_by }: PolicyFilter,
  { after, limit, count_max }: { after: string | undefined; limit: number; count_max: number },
): Promise<{ rows: StoredPolicy[]; counted: number }> {
  const matches = policiesOf(db, project_id)
    .where('policies.deleted_at', 'is', null)
    .$if(managed_by !== undefined, (query) =>
      managed_by ? query.where(ownedBy(managed_by)) : query,
    )
  const rows = await matches
    .$if(after !== undefined, (query) => query.where('policies.policy_id', '>', after ?? ''))
    .orderBy('policies.policy_id')
    .limit(limit)
    .execute()
  const n = await countUpTo(db, matches, count_max)
  return { rows: rows as StoredPolicy[], counted: Number(n) }
}

/** Finds a version of a policy, also of a deleted one. */
export async function findVersion(
  db: PolicyDb,
  { project_id, policy_id, version }: WhichPolicy & { version: number },
): Promise<StoredVersion | undefined> {
  const row = await db
    .selectFrom('certification_policy_versions')
    .selectAll()
    .where('project_id', '=', project_id)
    .where('policy_id', '=', policy_id)
    .where('version', '=', version)
    .executeTakeFirst()
  return row && toVersion(row)
}

/** A document is only written by `writeVersion`. */
function toVersion(row: Selectable<CertificationTables['certification_policy_versions']>) {
  return { ...row, document: row.document as PolicyDocument }
}

/** Returns a page of the versions of a policy, newest first, and counts them up to `count_max`. */
export async function selectVersions(
  db: PolicyDb,
  { project_id, policy_id }: WhichPolicy,
  { before, limit, count_max }: { before: number | undefined; limit: number; count_max: number },
): Promise<{ rows: StoredVersion[]; counted: number }> {
  const versions = db
    .selectFrom('certification_policy_versions')
    .selectAll()
    .where('project_id', '=', project_id)
    .where('policy_id', '=', policy_id)
  const rows = await versions
    .$if(before !== undefined, (query) => query.where('version', '<', before ?? 0))
    .orderBy('version', 'desc')
    .limit(limit)
    .execute()
  const n = await countUpTo(db, versions, count_max)
  return { rows: rows.map(toVersion), counted: Number(n) }
}

/**
 * Runs a change of the policies of a project in a transaction. Changes of one project wait for each
 * other, so that two changes together cannot exceed a limit.
 */
export function changePolicies<T>(
  db: PolicyDb,
  project_id: string,
  work: (trx: PolicyDb) => Promise<T>,
): Promise<T> {
  return db.transaction().execute(async (trx) => {
    const lock = `looptrace.certification_policies ${project_id}`
    await sql`select pg_advisory_xact_lock(hashtextextended(${lock}, 0))`.execute(trx)
    return work(trx)
  })
}

/** Finds a policy to change, also a deleted one, and locks it until the transaction ends. */
export async function lockPolicy(
  trx: PolicyDb,
  { project_id, policy_id }: WhichPolicy,
): Promise<StoredPolicy | undefined> {
  const row = await policiesOf(trx, project_id)
    .where('policies.policy_id', '=', policy_id)
    .forUpdate('policies')
    .executeTakeFirst()
  return row as StoredPolicy | undefined
}

/** Counts the policies of a project that are not deleted. */
export async function countPolicies(trx: PolicyDb, project_id: string): Promise<number> {
  const { n } = await trx
    .selectFrom('certification_policies')
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .where('project_id', '=', project_id)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow()
  return Number(n)
}

/** New rules of a policy, with its owner, and the time and author of the change. */
export type PolicyChange = {
  rules: PolicyRules
  managed_by: ManagedBy | null
  at: Date
  by: string
}

/** Writes a version after `before`, the policy as it is locked; undefined for a new policy. */
export async function writeVersion(
  trx: PolicyDb,
  { project_id, policy_id }: WhichPolicy,
  { rules, managed_by, at, by }: PolicyChange,
  before: StoredPolicy | undefined,
): Promise<StoredPolicy> {
  const version = (before?.version ?? 0) + 1
  const document = toPolicyDocument(policy_id, version, rules)
  const digest = digestPolicy(document)
  const created = { created_at: at, created_by: by }
  await trx
    .insertInto('certification_policy_versions')
    .values({
      project_id,
      policy_id,
      version,
      digest,
      document: JSON.stringify(document),
      ...created,
    })
    .execute()
  const owner = managed_by && JSON.stringify(managed_by)
  const changed = { version, managed_by: owner, updated_at: at, updated_by: by, deleted_at: null }
  // A policy that was deleted is created again.
  const again = before?.deleted_at == null ? {} : created
  const row = await trx
    .insertInto('certification_policies')
    .values({ project_id, policy_id, ...created, ...changed })
    .onConflict((conflict) =>
      conflict.columns(['project_id', 'policy_id']).doUpdateSet({ ...changed, ...again }),
    )
    .returningAll()
    .executeTakeFirstOrThrow()
  return { ...row, digest, document } as StoredPolicy
}

/** Sets or removes the resource that manages a policy. Its version stays. */
export async function setOwner(
  trx: PolicyDb,
  { project_id, policy_id }: WhichPolicy,
  managed_by: ManagedBy | null,
): Promise<void> {
  await trx
    .updateTable('certification_policies')
    .set({ managed_by: managed_by && JSON.stringify(managed_by) })
    .where('project_id', '=', project_id)
    .where('policy_id', '=', policy_id)
    .execute()
}

/** Marks a policy as deleted and without an owner. Its versions remain. */
export async function markDeleted(
  trx: PolicyDb,
  { project_id, policy_id }: WhichPolicy,
  at: Date,
): Promise<void> {
  await trx
    .updateTable('certification_policies')
    .set({ deleted_at: at, managed_by: null })
    .where('project_id', '=', project_id)
    .where('policy_id', '=', policy_id)
    .execute()
}

/** Whether two documents or owners are equal. */
export function isSame(one: object | null, other: object | null): boolean {
  return canonicalJson(one) === canonicalJson(other)
}
