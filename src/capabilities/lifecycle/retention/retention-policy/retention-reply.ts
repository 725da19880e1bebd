import { z } from 'zod'
import { record } from '../../../../model/named-schemas.ts'
import { Answer, etagOf } from '../../../../platform/http/index.ts'
import { sql } from '../../../../platform/relational/index.ts'
import type { EffectiveDocument } from '../../../documents/index.ts'
import { type RetentionDb, type RetentionDeps, retentionKind } from '../contract.ts'
import { kinds } from '../legal-holds/legal-holds.ts'
import { managedHolds } from '../legal-holds/managed-store.ts'
import { nextSlot, nextTick } from '../schedule/slots.ts'
import { retentionFields } from './policy-schema.ts'
import type { StoredRetention } from './store.ts'

const count = z.int().nonnegative()

/** Reply of GET, PUT and DELETE: the policy and the state of retention. */
export const retentionReply = record('RetentionPolicy', {
  ...retentionFields,
  legal_holds: z
    .array(
      record('DeclaredLegalHold', {
        hold_id: z.uuid(),
        name: z.string(),
        kind: z.enum(kinds),
        value: z.string(),
        reason: z.string(),
      }),
    )
    .describe('Legal holds that the resource of `managed_by` declares.'),
  last_run: z
    .strictObject({
      job_id: z.uuid(),
      state: z.enum(['succeeded', 'failed']),
      ended_at: z.iso.datetime(),
      deleted_rows: count,
      deleted_bytes: count,
    })
    .meta({ id: 'LastRetentionRun' })
    .nullable()
    .describe('The run that ended last; null before the first one.'),
  deleted_rows: count.describe('Rows deleted by the runs on record.'),
  deleted_bytes: count.describe('Approximate bytes on disk of those rows.'),
  next_run_at: z.iso
    .datetime()
    .nullable()
    .describe(
      'Time of the next daily run. A time in the past means that the run starts as soon as a worker is available. null without a policy.',
    ),
  next_archive_at: z.iso
    .datetime()
    .nullable()
    .describe('Next time of the schedule of `archive`; null without one.'),
  held_count: count.describe('Number of held items; an item with several holds counts once.'),
})

/** Builds the reply: a policy with the state of retention in its project. */
export async function retentionAnswer(
  { db, clock, hour }: Pick<RetentionDeps, 'db' | 'clock' | 'hour'>,
  policy: EffectiveDocument<StoredRetention>,
) {
  const { project_id, days, environments, archive_before_delete, archive } = policy
  const { version, updated_at, updated_by, managed_by } = policy
  const [state, holds] = await Promise.all([
    readRetentionState(db, { project_id, kind: retentionKind }),
    managed_by === null ? [] : managedHolds(db, { project_id, owner: managed_by }),
  ])
  const now_ms = clock.now_ms()
  return new Answer(
    {
      project_id,
      days,
      environments: [...environments],
      archive_before_delete,
      archive,
      version,
      updated_at,
      updated_by,
      managed_by,
      ...state,
      legal_holds: holds.map(({ id: hold_id, managed_name, kind, value, reason }) => ({
        hold_id,
        name: managed_name ?? '',
        kind,
        value,
        reason,
      })),
      next_run_at: version === 0 ? null : (policy.next_run_at ?? isoOf(nextSlot(now_ms, hour))),
      next_archive_at: archive?.enabled ? isoOf(nextTick(archive.schedule, now_ms)) : null,
    },
    { headers: { etag: etagOf(version) } },
  )
}

function isoOf(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString()
}

/** State of retention in a project. */
type RetentionState = {
  /** The run that ended last. */
  last_run: LastRun | null
  /** Sums over the runs whose records are kept. */
  deleted_rows: number
  deleted_bytes: number
  /** Number of held items; an item with several holds counts once. */
  held_count: number
}

/** A run that ended, with the rows it deleted. */
type LastRun = {
  job_id: string
  state: 'succeeded' | 'failed'
  ended_at: string
  deleted_rows: number
  deleted_bytes: number
}

/** Reads the state of retention in a project. `kind` is the kind of its runs. */
async function readRetentionState(
  db: RetentionDb,
  { project_id, kind }: { project_id: string; kind: string },
): Promise<RetentionState> {
  const { rows } = await sql<StateRow>`
    with runs as (
      select id, state, ended_at, ${deleted('rows', 'row_count')} as deleted_rows,
        ${deleted('bytes', 'bytes')} as deleted_bytes
      from job_runs
      where project_id = ${project_id} and kind = ${kind} and state in ('succeeded', 'failed')
    ), held as (
      select distinct kind, value from legal_holds
      where project_id = ${project_id} and released_at is null
    )
    select last.id as job_id, last.state, last.ended_at,
      coalesce(last.deleted_rows, 0)::bigint as last_rows,
      coalesce(last.deleted_bytes, 0)::bigint as last_bytes,
      (select coalesce(sum(deleted_rows), 0)::bigint from runs) as deleted_rows,
      (select coalesce(sum(deleted_bytes), 0)::bigint from runs) as deleted_bytes,
      (select count(*)::bigint from held) as held_count
    from (select) as one
    left join lateral (select * from runs order by id desc limit 1) as last on true`.execute(db)
  const [row] = rows
  if (row === undefined) throw new TypeError('got no row of sums, expected one')
  const { deleted_rows, deleted_bytes, held_count } = row
  return { last_run: lastRunOf(row), deleted_rows, deleted_bytes, held_count }
}

type StateRow = {
  job_id: string | null
  state: LastRun['state'] | null
  ended_at: string | null
  last_rows: number
  last_bytes: number
  deleted_rows: number
  deleted_bytes: number
  held_count: number
}

/**
 * Returns SQL for the amount that a run deleted: by its result or, for a failed run, its buckets.
 */
function deleted(what: 'rows' | 'bytes', column: 'row_count' | 'bytes') {
  return sql<number>`coalesce(
    (result->>${sql.lit(`deleted_${what}`)})::bigint,
    (select sum(${sql.ref(`retention_buckets.${column}`)}) from retention_buckets
      where job_id = job_runs.id and action = 'delete'),
    0)`
}

function lastRunOf(row: StateRow): LastRun | null {
  const { job_id, state, ended_at, last_rows, last_bytes } = row
  if (job_id === null || state === null || ended_at === null) return null
  return { job_id, state, ended_at, deleted_rows: last_rows, deleted_bytes: last_bytes }
}
