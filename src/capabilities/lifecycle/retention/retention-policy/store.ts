import { canonicalJson } from '../../../../kernel/canonical-json.ts'
import {
  isOwner,
  type ManagedBy,
  type ResourceName,
  refuseOtherInstallation,
  refuseUnlessOwner,
} from '../../../../model/managed-by.ts'
import { assertVersion, type RequestHeaders } from '../../../../platform/http/index.ts'
import {
  type RetentionTables,
  type Selectable,
  sql,
} from '../../../../platform/relational/index.ts'
import { ProjectTable } from '../../../documents/index.ts'
import type { RetentionDb } from '../contract.ts'
import {
  type DeclaredHold,
  declareHolds,
  detachHolds,
  inheritHolds,
  releaseHolds,
} from '../legal-holds/managed-store.ts'
import { defaultRetention, type RetentionPolicy } from './rules.ts'

/** A project's stored policy. */
export type StoredRetention = Selectable<RetentionTables['retention_policies']>

/** The table of policies. */
export const retentionTable = new ProjectTable<StoredRetention>('retention_policies', {
  json: ['days', 'environments', 'archive', 'managed_by'],
  defaults: {
    ...defaultRetention,
    archive_since: null,
    next_run_at: null,
    archive_due_at: null,
    managed_by: null,
  },
})

/** A change of a policy, in the version of If-Match. */
export type RetentionChange = {
  project_id: string
  at: Date
  by: string
  headers: RequestHeaders
  /** Time of the next daily run after the change. */
  next_run_at: Date
}

/** A policy to write; `owner` is the resource that declares it, null for a user's change. */
export type NewRetention = RetentionPolicy & {
  owner: ManagedBy | null
  take_over: boolean
  /** Undefined leaves the holds unchanged. */
  legal_holds: readonly DeclaredHold[] | undefined
}

/**
 * Writes a policy and the holds that are declared with it. Throws `managed_by_kubernetes`,
 * `precondition_failed`, `too_many_holds`.
 */
export function writeRetention(
  db: RetentionDb,
  change: RetentionChange,
  policy: NewRetention,
): Promise<StoredRetention> {
  return inProject(db, change.project_id, async (transaction, stored) => {
    const { owner, legal_holds } = policy
    const old = stored?.managed_by ?? null
    const refuse = policy.take_over ? refuseOtherInstallation : refuseUnlessOwner
    refuse(old, owner)
    assertVersion(change.headers, stored?.version ?? 0)
    if (owner !== null) {
      if (old !== null && !isOwner(old, owner)) await takeOver(transaction, change, { old, policy })
      if (legal_holds !== undefined) {
        await declareHolds(transaction, holdsOf(change, owner), legal_holds)
      }
    }
    return put(transaction, change, policy, stored)
  })
}

/**
 * Deletes the policy for a user, so that the default applies. Throws `managed_by_kubernetes`,
 * `precondition_failed`.
 */
export function resetRetention(db: RetentionDb, change: RetentionChange): Promise<undefined> {
  return inProject(db, change.project_id, async (transaction, stored) => {
    refuseUnlessOwner(stored?.managed_by ?? null, null)
    assertVersion(change.headers, stored?.version ?? 0)
    return remove(transaction, change.project_id)
  })
}

/**
 * Deletes the policy and holds that a resource declares, or with `retain` only their declaration.
 * Returns the policy that then applies. When another resource declares the policy by now, the holds
 * are still deleted, but it throws `managed_by_kubernetes`. Throws `precondition_failed`.
 */
export async function withdrawRetention(
  db: RetentionDb,
  change: RetentionChange,
  { owner, retain }: { owner: ResourceName; retain: boolean },
): Promise<StoredRetention | undefined> {
  const left = await inProject(db, change.project_id, async (transaction, stored) => {
    assertVersion(change.headers, stored?.version ?? 0)
    const about = holdsOf(change, owner)
    await (retain ? detachHolds(transaction, about) : releaseHolds(transaction, about))
    if (stored?.managed_by == null || !isOwner(stored.managed_by, owner)) return stored
    if (retain) return put(transaction, change, { ...stored, owner: null }, stored)
    return remove(transaction, change.project_id)
  })
  refuseUnlessOwner(left?.managed_by ?? null, owner)
  return left
}

/** Locks the project, so that changes of its policy and holds are serialised. */
function inProject<T>(
  db: RetentionDb,
  project_id: string,
  work: (transaction: RetentionDb, stored: StoredRetention | undefined) => Promise<T>,
): Promise<T> {
  return db.transaction().execute(async (transaction) => {
    await sql`select 1 from projects where id = ${project_id} for no key update`.execute(
      transaction,
    )
    return work(transaction, await retentionTable.find(transaction, project_id))
  })
}

/** Moves holds that the new owner also declares to it, and detaches the others, so none is lost. */
async function takeOver(
  db: RetentionDb,
  change: RetentionChange,
  { old, policy: { owner, legal_holds = [] } }: { old: ManagedBy; policy: NewRetention },
): Promise<void> {
  if (owner === null) return
  const about = holdsOf(change, old)
  await inheritHolds(db, about, { owner, names: legal_holds.map(({ name }) => name) })
  await detachHolds(db, about)
}

function holdsOf<Owner extends ResourceName>(
  { project_id, by, at: now }: RetentionChange,
  owner: Owner,
) {
  return { project_id, owner, by, now }
}

function put(
  db: RetentionDb,
  { project_id, at, by, next_run_at }: RetentionChange,
  policy: RetentionPolicy & { owner: ManagedBy | null },
  stored: StoredRetention | undefined,
): Promise<StoredRetention> {
  const { days, environments, archive_before_delete, archive, owner } = policy
  const updated_at = at.toISOString()
  const isSameArchive = stored && canonicalJson(stored.archive) === canonicalJson(archive)
  return retentionTable.write(db, {
    project_id,
    days,
    environments,
    archive_before_delete,
    archive,
    archive_since: isSameArchive ? stored.archive_since : updated_at,
    next_run_at: next_run_at.toISOString(),
    archive_due_at: null,
    managed_by: owner,
    updated_at,
    updated_by: by,
  })
}

async function remove(db: RetentionDb, project_id: string): Promise<undefined> {
  await db.deleteFrom('retention_policies').where('project_id', '=', project_id).execute()
}
