import { sql } from '../../../platform/relational/index.ts'
import type { IncidentDb } from '../ports.ts'
import { toInstant } from '../store/incident-row.ts'
import { jsonOf } from '../store/records.ts'
import type { Holder, Lease } from './leases.ts'

/** A claimed project whose rules are due. `changes` grows with each change of its rules. */
export type DueProject = Lease & { changes: number }

/** The kinds of due work: slots of rules, or groups of event rules and the ledger. */
export type DueKind = 'due_at' | 'events_due_at'

type DueSearch = Pick<Holder, 'holder'> & {
  kind: DueKind
  now_ms: number
  /** Projects that are evaluated already. */
  but: readonly string[]
  limit: number
}

/** Projects that are due, and when the next one is; infinite without one. */
export type DueProjects = { projects: DueProject[]; next_ms: number }

/** Returns the projects of a worker that are due, longest first. */
export async function findDueProjects(
  db: IncidentDb,
  { holder, kind, now_ms, but, limit }: DueSearch,
): Promise<DueProjects> {
  const due_at = sql.ref(kind)
  const now = sql`${toInstant(now_ms)}::timestamptz`
  const { rows } = await sql<DueProject & { next_at: string | null }>`
    with due as (
      select project_id, fence, changes, ${due_at} as due_at from evaluation_leases
      where holder = ${holder}::uuid and ${due_at} <= ${now}
        and not project_id = any(${[...but]}::uuid[])
      order by ${due_at} limit ${limit}
    ), later as (
      select null::uuid, null::bigint, null::bigint, min(${due_at}) from evaluation_leases
      where holder = ${holder}::uuid and ${due_at} > ${now} and ${due_at} < 'infinity'
    )
    select project_id, fence, changes, due_at as next_at from due union all select * from later
  `.execute(db)
  const next_at = rows.at(-1)?.next_at ?? null
  return {
    projects: rows
      .slice(0, -1)
      .map(({ project_id, fence, changes }) => ({ project_id, fence, changes })),
    next_ms: next_at === null ? Number.POSITIVE_INFINITY : Date.parse(next_at),
  }
}

/** When a project is due next, ms since 1970; infinite without a rule that time makes due. */
export type NextDue = DueProject & { due_ms: number }

/** Sets when projects are due next. One whose rules changed since it was read remains due. */
export async function scheduleProjects(
  db: IncidentDb,
  kind: DueKind,
  next: readonly NextDue[],
): Promise<void> {
  if (next.length === 0) return
  const rows = next.map(({ due_ms, project_id, fence, changes }) => {
    return { project_id, fence, changes, due_at: toDue(due_ms) }
  })
  await sql`
    update evaluation_leases as lease set ${sql.ref(kind)} = next.due_at::timestamptz
    from jsonb_to_recordset(${jsonOf(rows)}::jsonb)
      as next (project_id uuid, fence bigint, changes bigint, due_at text)
    where lease.project_id = next.project_id and lease.fence = next.fence
      and lease.changes = next.changes
  `.execute(db)
}

function toDue(due_ms: number): string {
  return Number.isFinite(due_ms) ? toInstant(due_ms) : 'infinity'
}

/**
 * Makes the event rules of a project due, after matches were recorded. Called while the incidents of
 * the project are locked: this row is the one that is locked after them.
 */
export async function markEventsDue(trx: IncidentDb, project_id: string): Promise<void> {
  await sql`
    update evaluation_leases set changes = changes + 1, events_due_at = '-infinity'
    where project_id = ${project_id} and events_due_at > '-infinity'
  `.execute(trx)
}
