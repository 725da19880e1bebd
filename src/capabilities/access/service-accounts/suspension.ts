import { newId } from '../../../kernel/ids.ts'
import { problem } from '../../../kernel/problem.ts'
import type { AccessTables, Kysely } from '../../../platform/relational/index.ts'
import { accountRow, type ServiceAccountRow, type WhichAccount } from './store.ts'

type Db = Kysely<AccessTables>

/** A decision to suspend or resume: its author, time and reason. */
export type Decision = { actor: string; reason: string; at: Date }

/** Locks an account until the end of the transaction. Throws `service_account_not_found`. */
export async function lockAccount(
  trx: Db,
  { project_id, service_account_id }: WhichAccount,
): Promise<ServiceAccountRow> {
  const row = await trx
    .selectFrom('service_accounts')
    .selectAll()
    .where('project_id', '=', project_id)
    .where('id', '=', service_account_id)
    .forUpdate()
    .executeTakeFirst()
  if (row !== undefined) return accountRow(row)
  throw accountNotFound(service_account_id)
}

/** Returns the error for an account that the project does not have. */
export function accountNotFound(service_account_id: string): Error {
  return problem('service_account_not_found', {
    detail: `The project has no service account with the id ${service_account_id}`,
  })
}

/** Throws `service_account_suspended` with the user, the time and the reason. */
export function refuseSuspended(account: ServiceAccountRow | undefined): void {
  if (account?.suspended_at == null) return
  const { name, suspended_at, suspended_by, suspended_reason } = account
  throw problem('service_account_suspended', {
    detail: `User ${suspended_by} suspended the service account "${name}" at ${suspended_at}: ${suspended_reason}. A project admin can resume it`,
  })
}

/**
 * Suspends the account of a key that is revoked in an emergency, if it has one, and records the
 * decision. Call it in the transaction that revokes the key.
 */
export async function suspendAccount(
  trx: Db,
  key: { project_id: string; service_account_id: string | null; api_key_id: string },
  decision: Decision,
): Promise<void> {
  const { project_id, service_account_id, api_key_id } = key
  if (service_account_id !== null) {
    const { actor, reason, at } = decision
    await trx
      .updateTable('service_accounts')
      .set({ suspended_at: at, suspended_by: actor, suspended_reason: reason })
      .where('project_id', '=', project_id)
      .where('id', '=', service_account_id)
      .execute()
  }
  await record(trx, { project_id, service_account_id, api_key_id, action: 'revoke' }, decision)
}

/**
 * Resumes a suspended account and records the decision; an account that is not suspended stays as
 * it is. `check` may refuse by the locked account.
 */
export function resumeAccount(
  db: Db,
  which: WhichAccount,
  { decision, check }: { decision: Decision; check: (account: ServiceAccountRow) => void },
): Promise<ServiceAccountRow> {
  return db.transaction().execute(async (trx) => {
    const account = await lockAccount(trx, which)
    check(account)
    if (account.suspended_at === null) return account
    const row = await trx
      .updateTable('service_accounts')
      .set({ suspended_at: null, suspended_by: null, suspended_reason: null })
      .where('id', '=', account.id)
      .returningAll()
      .executeTakeFirstOrThrow()
    await record(trx, { ...which, api_key_id: null, action: 'resume' }, decision)
    return accountRow(row)
  })
}

async function record(
  trx: Db,
  about: {
    project_id: string
    service_account_id: string | null
    api_key_id: string | null
    action: 'revoke' | 'resume'
  },
  { actor, reason, at }: Decision,
): Promise<void> {
  const { project_id, service_account_id, api_key_id, action } = about
  await trx
    .insertInto('access_emergencies')
    .values({
      id: newId(),
      project_id,
      service_account_id,
      api_key_id,
      action,
      actor,
      reason,
      occurred_at: at,
    })
    .execute()
}
