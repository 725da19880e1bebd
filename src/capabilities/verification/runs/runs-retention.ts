import { isoFromNs } from '../../../kernel/time.ts'
import { sql } from '../../../platform/relational/index.ts'
import { type DetectionDb, expireClaimFindings } from '../../detection/index.ts'
import type { RetentionSlice, RetentionTarget, UserErasure } from '../../storage/index.ts'
import type { RunsDb } from '../contract.ts'
import { refreshTasksTrust } from './store.ts'

/** Maximum runs per transaction. */
const runs_max = 500

/**
 * Opens the retention of runs, which quote content: claims, evidence, replies of models, reasons of
 * overrides and of reviewers. Deleting observations deletes the runs of traces that started in the
 * slice; erasing content keeps their scores and verdicts, also of a later run that quotes the
 * slice, such as an earlier task of the conversation. A run in progress that may have read the
 * content is restarted. Held traces do not change. Calls of deleted runs remain in the spend of
 * their day, which has no content.
 */
export function openRunsRetention({ db }: { db: RunsDb }): RetentionTarget {
  return {
    store: 'postgres',
    kinds: ['observations'],
    deleteRows: async (slice, signal) => {
      if (slice.kind !== 'observations') return
      const isOwn = sql`${startsIn(slice)} and ${matches(slice)}`
      await eachPage(db, isOwn, { project_id: slice.project_id, signal, change: deleteRuns })
      await deleteVerdicts(db, slice)
      await restartRuns(db, slice.project_id, quotes(slice))
      await expireQuotes(db, slice, signal)
    },
    maskContent: async (slice, signal) => {
      if (slice.kind !== 'observations') return
      await restartRuns(db, slice.project_id, quotes(slice))
      await expireQuotes(db, slice, signal)
    },
    eraseUser: (erasure, signal) => forgetUser(db, erasure, signal),
  }
}

type Fragment = ReturnType<typeof sql>

function startsIn({ from, to }: RetentionSlice): Fragment {
  return sql`trace_start >= ${isoFromNs(from)} and trace_start < ${isoFromNs(to)}`
}

function matches({ trace_ids, ...slice }: RetentionSlice): Fragment {
  const inTraces =
    trace_ids === undefined ? sql`true` : sql`trace_id = any(${[...trace_ids]}::uuid[])`
  return sql`${inTraces} and ${isFree(slice)}`
}

function isFree({ environments, held_trace_ids }: Omit<RetentionSlice, 'trace_ids'>): Fragment {
  const inEnvironment =
    environments === undefined
      ? sql`true`
      : sql`coalesce(environment, '') = any(${[...environments]})`
  return sql`${inEnvironment} and ${isNotHeld(held_trace_ids)}`
}

/**
 * Matches runs that may quote the slice: they read a text of its time or of its traces. A run in
 * progress that has not noted what it read may quote everything.
 */
function quotes({ from, to, trace_ids, ...slice }: RetentionSlice): Fragment {
  const read =
    trace_ids === undefined
      ? sql`coalesce((context ->> 'oldest_source')::timestamptz, trace_start) < ${isoFromNs(to)}`
      : sql`(trace_id = any(${[...trace_ids]}::uuid[]) or ${readsTraces(trace_ids)})`
  return sql`trace_start >= ${isoFromNs(from)} and ${isFree({ from, to, ...slice })}
    and (${read} or state = 'pending' and context is null)`
}

/** Matches runs that read texts of traces. */
function readsTraces(trace_ids: readonly string[]): Fragment {
  return sql`coalesce(context -> 'traces', '[]') ?| ${[...trace_ids]}::text[]`
}

function isNotHeld(held_trace_ids: readonly string[]): Fragment {
  return sql`not (trace_id = any(${[...held_trace_ids]}::uuid[]))`
}

type PagedChange = {
  project_id: string
  signal: AbortSignal | undefined
  /** Changes runs, so that they no longer meet the condition; returns their number. */
  change: (trx: RunsDb, project_id: string, ids: readonly string[]) => Promise<unknown>
}

/** Changes the runs that meet a condition, some in each transaction. */
async function eachPage(
  db: RunsDb,
  condition: Fragment,
  { project_id, signal, change }: PagedChange,
): Promise<void> {
  for (let after: string | undefined = '00000000-0000-0000-0000-000000000000'; after; ) {
    signal?.throwIfAborted()
    const behind: string = after
    after = await db.transaction().execute(async (trx) => {
      const { rows } = await sql<{ id: string }>`
        select id from verification_runs
        where project_id = ${project_id} and id > ${behind}::uuid and ${condition}
        order by id limit ${runs_max} for update`.execute(trx)
      const ids = rows.map(({ id }) => id)
      if (ids.length > 0) await change(trx, project_id, ids)
      return ids.length < runs_max ? undefined : ids.at(-1)
    })
  }
}

/** Deletes runs with their claims and calls, and ends the jobs of pending ones. */
async function deleteRuns(trx: RunsDb, project_id: string, ids: readonly string[]): Promise<void> {
  const { rows } = await sql<{ task_id: string | null; job_id: string | null }>`
    delete from verification_runs where id = any(${[...ids]}::uuid[])
    returning task_id, job_id`.execute(trx)
  await sql`
    delete from job_runs
    where id = any(${rows.flatMap(({ job_id }) => job_id ?? [])}::uuid[]) and state = 'queued'
  `.execute(trx)
  const task_ids = taskIdsOf(rows)
  await refreshTasksTrust(trx, project_id, task_ids)
  await expireFindings(trx, { project_id, task_ids, run_ids: ids })
}

/**
 * Takes runs in progress from their workers, so that they are restarted with the remaining
 * content. Recorded replies of models are removed, because they may quote deleted content.
 */
async function restartRuns(db: RunsDb, project_id: string, condition: Fragment): Promise<void> {
  const runs = sql`
    select id, job_id from verification_runs
    where project_id = ${project_id} and state = 'pending' and started_at is not null
      and ${condition}`
  await db.transaction().execute(async (trx) => {
    await sql`
      update job_runs set state = 'queued', lease_owner = null, lease_until = null,
        due_at = now(), attempt = greatest(0, attempt - 1)
      from (${runs}) as run where job_runs.id = run.job_id and job_runs.state = 'running'
    `.execute(trx)
    await sql`
      update verification_calls set outcome = 'sent', reply = null
      from (${runs}) as run where verification_calls.run_id = run.id`.execute(trx)
  })
}

/**
 * The tables with verdicts of people on claims. They outlive runs, and their reasons may quote
 * content.
 */
const personTables = ['verification_overrides', 'verification_claim_labels'] as const

/**
 * Deletes people's verdicts on traces; those of an environment are known by its deleted runs only.
 */
async function deleteVerdicts(db: RunsDb, slice: RetentionSlice): Promise<void> {
  const { project_id, environments, trace_ids, held_trace_ids } = slice
  const isOrphan = sql`not exists (
    select from verification_runs as run
    where run.project_id = given.project_id and run.trace_id = given.trace_id)`
  for (const table of personTables) {
    await sql`
      delete from ${sql.table(table)} as given
      where project_id = ${project_id} and ${startsIn(slice)} and ${isNotHeld(held_trace_ids)}
        and ${trace_ids === undefined ? sql`true` : sql`trace_id = any(${[...trace_ids]}::uuid[])`}
        and ${environments === undefined ? sql`true` : isOrphan}`.execute(db)
  }
}

const expiredNote = 'The text is no longer stored.'

/** Removes the texts of runs that quote the slice; verdicts, confidences and offsets stay. */
async function expireQuotes(
  db: RunsDb,
  slice: RetentionSlice,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { project_id } = slice
  const isStored = sql`state <> 'pending' and not (coalesce(context, '{}') ? 'expired')`
  const condition = sql`${isStored} and ${quotes(slice)}`
  await eachPage(db, condition, { project_id, signal, change: expireRuns })
}

async function expireRuns(trx: RunsDb, project_id: string, ids: readonly string[]) {
  const runs = sql`any(${[...ids]}::uuid[])`
  await sql`
    update verification_claims set
      text = ${expiredNote}, checked_values = '[]', results = ${withoutTexts(sql`results`)}
    where run_id = ${runs}`.execute(trx)
  await sql`update verification_calls set reply = null where run_id = ${runs}`.execute(trx)
  for (const table of personTables) {
    await sql`
      update ${sql.table(table)} as given set
        reason = case when reason is not null then ${expiredNote} end,
        machine = ${withoutTexts(sql`machine`)}
      from verification_runs as run
      where run.id = ${runs} and given.project_id = run.project_id
        and given.trace_id = run.trace_id`.execute(trx)
  }
  const { rows } = await sql<{ task_id: string | null }>`
    update verification_runs set context = coalesce(context, '{}') || '{"expired": true}'
    where id = ${runs} returning task_id`.execute(trx)
  await expireFindings(trx, { project_id, task_ids: taskIdsOf(rows), run_ids: ids })
}

function taskIdsOf(rows: readonly { task_id: string | null }[]): string[] {
  return [...new Set(rows.flatMap(({ task_id }) => task_id ?? []))]
}

/** Removes the texts of findings of runs. The tables of both capabilities are in one database. */
function expireFindings(trx: RunsDb, runs: Parameters<typeof expireClaimFindings>[1]) {
  return expireClaimFindings(trx as unknown as DetectionDb, runs)
}

/** Returns the results without evidence and notes: a score can still be computed from them. */
function withoutTexts(results: Fragment): Fragment {
  return sql`coalesce((
    select jsonb_agg((one - 'evidence' - 'note')
      || jsonb_build_object('evidence', '[]'::jsonb, 'note', ${expiredNote}::text) order by at)
    from jsonb_array_elements(${results}) with ordinality as list (one, at)), '[]')`
}

/** Deletes the runs on traces of the user, and the runs that quote such a trace. */
async function forgetUser(
  db: RunsDb,
  { project_id, user_id, trace_ids, held_trace_ids }: UserErasure,
  signal: AbortSignal | undefined,
): Promise<void> {
  const traces = [...trace_ids]
  const ofUser = sql`${isNotHeld(held_trace_ids)} and (user_id = ${user_id}
    or trace_id = any(${traces}::uuid[]) or ${readsTraces(traces)})`
  await restartRuns(db, project_id, sql`true`)
  await eachPage(db, ofUser, { project_id, signal, change: forgetRuns })
  for (const table of personTables) {
    await sql`
      delete from ${sql.table(table)}
      where project_id = ${project_id} and ${isNotHeld(held_trace_ids)}
        and trace_id = any(${traces}::uuid[])`.execute(db)
  }
}

/** Deletes runs, and people's verdicts on their traces, which may quote what the runs read. */
async function forgetRuns(trx: RunsDb, project_id: string, ids: readonly string[]): Promise<void> {
  for (const table of personTables) {
    await sql`
      delete from ${sql.table(table)} as given using verification_runs as run
      where run.id = any(${[...ids]}::uuid[]) and given.project_id = run.project_id
        and given.trace_id = run.trace_id`.execute(trx)
  }
  await deleteRuns(trx, project_id, ids)
}
