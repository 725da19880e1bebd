import { sql } from '../../../platform/relational/index.ts'
import type { IncidentDb } from '../ports.ts'

/** A project that this process evaluates. `fence` grows with each new holder. */
export type Lease = { project_id: string; fence: number }

/** Who holds leases, and for how long. */
export type Holder = { holder: string; lease_ms: number }

/**
 * Claims the projects with rules whose lease ended, and extends the leases of this holder that are
 * half over. Returns all leases of this holder. Times are those of the database, so that clocks of
 * processes do not matter.
 */
export async function claimProjects(
  db: IncidentDb,
  { holder, lease_ms }: Holder,
): Promise<Lease[]> {
  const until = sql`now() + ${lease_ms} * interval '1 ms'`
  await sql`
    insert into evaluation_leases (project_id, holder, fence, expires_at)
    select distinct project_id, ${holder}::uuid, 1, ${until}
    from incident_rules where not suspended
      and not exists (select 1 from evaluation_leases as known
        where known.project_id = incident_rules.project_id)
    on conflict do nothing
  `.execute(db)
  // A stopped holder may have locked a lease: others must not wait for it.
  await sql`
    with free as (
      select project_id, expires_at <= now() as is_over from evaluation_leases
      where expires_at <= now()
        or (holder = ${holder}::uuid and expires_at < now() + ${lease_ms / 2} * interval '1 ms')
      for update skip locked
    )
    update evaluation_leases as lease set holder = ${holder}::uuid, expires_at = ${until},
      fence = fence + case when is_over then 1 else 0 end
    from free where lease.project_id = free.project_id
  `.execute(db)
  const { rows } = await sql<Lease>`
    select project_id, fence from evaluation_leases
    where holder = ${holder}::uuid and expires_at > now()
    order by project_id
  `.execute(db)
  return rows
}

/** Ends the leases of a holder, so that another one can continue at once. */
export async function releaseProjects(
  db: IncidentDb,
  { holder }: Pick<Holder, 'holder'>,
): Promise<void> {
  await db
    .updateTable('evaluation_leases')
    .set({ expires_at: sql<string>`now()` })
    .where('holder', '=', holder)
    .execute()
}

/** Returns whether a lease is valid, and keeps others from claiming it until the transaction ends. */
export async function holdsLease(
  trx: IncidentDb,
  { project_id, fence }: Lease,
  { holder }: Pick<Holder, 'holder'>,
): Promise<boolean> {
  const { rows } = await sql`
    select 1 from evaluation_leases
    where project_id = ${project_id} and holder = ${holder}::uuid and fence = ${fence}
      and expires_at > now()
    for share
  `.execute(trx)
  return rows.length > 0
}

/** Returns the time of the database, which all processes share. */
export async function databaseTime(db: IncidentDb): Promise<number> {
  const { rows } = await sql<{ now_ms: number }>`
    select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms
  `.execute(db)
  return rows[0]?.now_ms ?? Number.NaN
}
