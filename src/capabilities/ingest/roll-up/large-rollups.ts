import { sql, type TaskTables, type Transaction } from '../../../platform/relational/index.ts'

type Trx = Transaction<TaskTables>

/** A task or a conversation; `id` is its own. */
export type RollUpKey = { project_id: string; kind: 'task' | 'conversation'; id: string }

/** A large roll-up that is due, held by whoever claimed it; `touches` is how often it was marked. */
export type ClaimedRollUp = RollUpKey & { claim: string; touches: string }

/** Of the given ones those that are large, which are due from now on. Locks them in key order. */
export async function markLarge(trx: Trx, keys: readonly RollUpKey[]): Promise<RollUpKey[]> {
  if (keys.length === 0) return []
  const { rows } = await sql<RollUpKey>`
    with held as (
      select project_id, kind, id from large_rollups
      join ${given(keys)} using (project_id, kind, id)
      order by project_id, kind, id for update of large_rollups
    )
    update large_rollups as large set ${due('large')}
    from held
    where (large.project_id, large.kind, large.id) = (held.project_id, held.kind, held.id)
    returning large.project_id, large.kind, large.id
  `.execute(trx)
  return rows
}

/** Remembers that these are large. They are due: what they hold may be older than a refresh. */
export async function noteLarge(trx: Trx, keys: readonly RollUpKey[]): Promise<void> {
  if (keys.length === 0) return
  await sql`
    insert into large_rollups (project_id, kind, id, due_at)
    select project_id, kind, id, now() from ${given(keys)} order by project_id, kind, id
    on conflict (project_id, kind, id) do update set ${due('large_rollups')}
  `.execute(trx)
}

/** Claims the one that has been due the longest, for so long; undefined when none is. */
export async function claimLarge(
  trx: Trx,
  { claim, lease_ms }: { claim: string; lease_ms: number },
): Promise<ClaimedRollUp | undefined> {
  const { rows } = await sql<ClaimedRollUp>`
    with due as (
      select project_id, kind, id from large_rollups
      where due_at <= now() and (claimed_until is null or claimed_until < now())
      order by due_at limit 1 for update skip locked
    )
    update large_rollups as large
    set claim = ${claim}, claimed_until = now() + ${lease_ms} * interval '1 ms'
    from due where (large.project_id, large.kind, large.id) = (due.project_id, due.kind, due.id)
    returning large.project_id, large.kind, large.id, large.claim, large.touches::text
  `.execute(trx)
  return rows[0]
}

/**
 * Ends a claim; false when somebody else has claimed it since. What was marked meanwhile stays due,
 * but not before the rest is over, so that refreshing one never takes all of a store's time.
 */
export async function settleLarge(
  trx: Trx,
  { project_id, kind, id, claim, touches }: ClaimedRollUp,
  { rest_ms }: { rest_ms: number },
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update large_rollups set
      claim = null, claimed_until = null,
      rests_until = now() + ${rest_ms} * interval '1 ms',
      due_at = case when touches = ${touches} then null
        else now() + ${rest_ms} * interval '1 ms' end
    where project_id = ${project_id} and kind = ${kind} and id = ${id} and claim = ${claim}
  `.execute(trx)
  return numAffectedRows === 1n
}

function due(table: string) {
  return sql.raw(`touches = ${table}.touches + 1,
    due_at = coalesce(${table}.due_at, greatest(now(), ${table}.rests_until))`)
}

function given(keys: readonly RollUpKey[]) {
  return sql`json_to_recordset(${JSON.stringify(keys)}::json) as given (
    project_id uuid, kind text, id text
  )`
}
