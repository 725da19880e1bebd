import { sql } from '../../../platform/relational/index.ts'
import type { IncidentDb } from '../ports.ts'

/** A project that this process evaluates. `fence` grows with each new holder. */
export type Lease = { project_id: string; fence: number }

/** Who holds leases, and for how long after each claim. */
export type Holder = { holder: string; lease_ms: number }

/**
 * Renews the leases of this worker with one row, takes its share of the projects without a holder, or
 * with a dead one, and gives back its surplus. `held` is the number of projects that it has, if
 * known. Returns the number after it. Times are those of the database, so that clocks of processes
 * do not matter.
 */
export function claimProjects(
  db: IncidentDb,
  { holder, lease_ms, held }: Holder & { held?: number | undefined },
): Promise<number> {
  return db.transaction().execute(async (trx) => {
    const { dead, is_alive, ...counts } = await readCounts(trx, holder)
    // Others may have taken the projects of a worker that was stopped past its lease.
    const before = held !== undefined && is_alive ? held : await countHeld(trx, holder)
    const { take, give } = shareLeases({ ...counts, held: before })
    await putWorker(trx, { holder, lease_ms, leases: before })
    const given = give === 0 ? 0 : await giveBack(trx, holder, give)
    const taken = take === 0 ? 0 : await takeFree(trx, { holder, dead, limit: take })
    const after = before - given + taken
    if (after !== before) await putWorker(trx, { holder, lease_ms, leases: after })
    if (dead.length > 0) await forgetWorkers(trx, dead)
    return after
  })
}

type Counts = Omit<LeaseCounts, 'held'> & {
  is_alive: boolean
  /** Workers whose leases ended. */
  dead: string[]
}

async function readCounts(trx: IncidentDb, holder: string): Promise<Counts> {
  const { rows } = await sql<Counts>`
    with workers as (
      select holder, leases, expires_at > now() as is_alive, holder = ${holder}::uuid as is_own
      from evaluation_workers
    ), free as (
      select from evaluation_leases where holder is null limit ${claims_max}
    )
    select coalesce(bool_or(is_alive and is_own), false) as is_alive,
      count(*) filter (where is_alive and not is_own)::int as others,
      coalesce(sum(leases) filter (where not is_own), 0)::int as elsewhere,
      coalesce(array_agg(holder) filter (where not is_alive and not is_own), '{}') as dead,
      (select count(*)::int from free) as free
    from workers
  `.execute(trx)
  return rows[0] ?? { is_alive: false, others: 0, elsewhere: 0, free: 0, dead: [] }
}

/** Projects that a worker takes or gives back with one claim. */
const claims_max = 5_000

async function countHeld(trx: IncidentDb, holder: string): Promise<number> {
  const { rows } = await sql<{ held: number }>`
    select count(*)::int as held from evaluation_leases where holder = ${holder}::uuid
  `.execute(trx)
  return rows[0]?.held ?? 0
}

async function putWorker(
  trx: IncidentDb,
  { holder, lease_ms, leases }: Holder & { leases: number },
): Promise<void> {
  await sql`
    insert into evaluation_workers (holder, expires_at, leases)
    values (${holder}::uuid, now() + ${lease_ms} * interval '1 ms', ${leases})
    on conflict (holder) do update
      set expires_at = excluded.expires_at, leases = excluded.leases
  `.execute(trx)
}

/** Gives back the projects that are due last. */
async function giveBack(trx: IncidentDb, holder: string, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    update evaluation_leases set holder = null where project_id = any(array(
      select project_id from evaluation_leases where holder = ${holder}::uuid
      order by due_at desc limit ${Math.min(limit, claims_max)} for update skip locked
    ))
  `.execute(trx)
  return Number(numAffectedRows ?? 0)
}

/** Takes projects. A stopped holder may have locked a lease: others must not wait for it. */
async function takeFree(
  trx: IncidentDb,
  { holder, dead, limit }: { holder: string; dead: readonly string[]; limit: number },
): Promise<number> {
  const { numAffectedRows } = await sql`
    update evaluation_leases set holder = ${holder}::uuid, fence = fence + 1
    where project_id = any(array(
      select project_id from evaluation_leases
      where holder is null or holder = any(${[...dead]}::uuid[])
      limit ${Math.min(limit, claims_max)} for update skip locked
    ))
  `.execute(trx)
  return Number(numAffectedRows ?? 0)
}

/** Deletes dead workers whose projects others have taken. */
async function forgetWorkers(trx: IncidentDb, dead: readonly string[]): Promise<void> {
  await sql`
    delete from evaluation_workers where holder = any(array(
      select holder from evaluation_workers as worker
      where holder = any(${[...dead]}::uuid[]) and expires_at <= now() and not exists (
        select from evaluation_leases as lease where lease.holder = worker.holder)
      for update skip locked
    ))
  `.execute(trx)
}

/** Ends the leases of a worker that stops, so that another one can continue at once. */
export async function releaseProjects(
  db: IncidentDb,
  { holder }: Pick<Holder, 'holder'>,
): Promise<void> {
  await db
    .updateTable('evaluation_leases')
    .set({ holder: null })
    .where('holder', '=', holder)
    .execute()
  await db.deleteFrom('evaluation_workers').where('holder', '=', holder).execute()
}

/**
 * Returns whether a lease is valid, and keeps others from taking it until the transaction ends. The
 * lock is the weakest one: changes of rules do not wait for it.
 */
export async function holdsLease(
  trx: IncidentDb,
  { project_id, fence }: Lease,
  { holder }: Pick<Holder, 'holder'>,
): Promise<boolean> {
  const { rows } = await sql`
    select from evaluation_leases as lease
    where project_id = ${project_id} and holder = ${holder}::uuid and fence = ${fence}
      and exists (select from evaluation_workers
        where holder = ${holder}::uuid and expires_at > now())
    for key share of lease
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

/** The numbers of projects and workers that a worker knows when it claims. */
type LeaseCounts = {
  /** Projects that this worker has. */
  held: number
  /** Projects that others have, living or dead, by their last claims. */
  elsewhere: number
  /** Projects without a holder. */
  free: number
  /** Living workers besides this one. */
  others: number
}

/** Numbers of projects to take, at most those that are free, and to give back. */
type LeaseMove = { take: number; give: number }

/**
 * Shares out projects by count: each worker has at most ceil(projects / living workers), and gives
 * back what it has beyond that. Counts of others may be out of date; the next claim corrects it.
 */
export function shareLeases({ held, elsewhere, free, others }: LeaseCounts): LeaseMove {
  const share = Math.ceil((held + elsewhere + free) / (others + 1))
  return { take: Math.max(0, share - held), give: Math.max(0, held - share) }
}
