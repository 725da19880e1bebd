import { sql } from '../../../platform/relational/index.ts'
import { runInProject } from '../../../platform/tenancy/index.ts'
import { applyTimers, joinTimers } from '../life-cycle/due.ts'
import type { Changed, Incident } from '../life-cycle/incident.ts'
import { applyMuting } from '../life-cycle/notices.ts'
import type { IncidentDb } from '../ports.ts'
import { type IncidentBook, openIncidents, type Saved } from '../store/incident-book.ts'
import { coreOf, type StoredIncident, toInstant } from '../store/incident-row.ts'
import { findRulesByName, type StoredRule } from '../store/rule-rows.ts'
import { type MutingInEffect, readMuting } from './muting-in-effect.ts'

/**
 * Applies the timers that are due: escalation, reminders, the timeout of acknowledgements, and the
 * end of flapping; one transaction for each project. Returns the number of messages. Any process
 * may call it: a timer that another one applied is no longer due.
 */
export async function applyDueTimers(
  db: IncidentDb,
  { now_ms, limit }: { now_ms: number; limit: number },
): Promise<Saved> {
  const due = await db
    .selectFrom('incidents')
    .select(['id', 'project_id'])
    .where('timer_at', '<=', toInstant(now_ms))
    .orderBy('timer_at')
    .limit(limit)
    .execute()
  const sum = { opened: 0, messages: 0 }
  for (const [project_id, incidents] of Map.groupBy(due, (one) => one.project_id)) {
    const ids = incidents.map(({ id }) => id)
    const saved = await runInProject(project_id, () =>
      db.transaction().execute((trx) => applyOf(trx, { project_id, ids, now_ms })),
    )
    sum.messages += saved.messages
  }
  return sum
}

async function applyOf(
  trx: IncidentDb,
  { project_id, ids, now_ms }: { project_id: string; ids: readonly string[]; now_ms: number },
): Promise<Saved> {
  const book = await openIncidents(trx, { project_id, now_ms })
  const now = toInstant(now_ms)
  const rows = (await book.readAll(ids)).filter(
    ({ timer_at }) => timer_at !== null && timer_at <= now,
  )
  const names = new Set(rows.flatMap((row) => coreOf(row).rules))
  const rules = await findRulesByName(trx, project_id, [...names])
  for (const row of rows) applyOne(book, row, rules)
  return book.save()
}

function applyOne(
  book: IncidentBook,
  before: StoredIncident,
  rules: ReadonlyMap<string, StoredRule>,
): void {
  const core = coreOf(before)
  const own = core.rules.flatMap((name) => rules.get(name)?.rule ?? [])
  const { next_ms, ...change } = applyTimers(core, joinTimers(own), book.now_ms)
  const after = change.incident === core ? before : book.record({ before, change })
  // Without rules, nothing repeats.
  const timer_at = next_ms === null || !Number.isFinite(next_ms) ? null : toInstant(next_ms)
  book.schedule(after, timer_at)
}

/**
 * Applies suppressions and inhibitions that began or ended, to the unresolved incidents of the
 * projects that a worker has. Returns the numbers of messages and of such projects. Projects are
 * locked only if an incident changes.
 */
export async function applyMutes(
  db: IncidentDb,
  { holder, now_ms }: { holder: string; now_ms: number },
): Promise<Saved & { projects: number }> {
  const projects = await findMutableProjects(db, holder)
  const sum = { opened: 0, messages: 0, projects: projects.length }
  for (const project_id of projects) {
    sum.messages += await runInProject(project_id, () => muteProject(db, { project_id, now_ms }))
  }
  return sum
}

/** Returns the number of messages. */
async function muteProject(
  db: IncidentDb,
  { project_id, now_ms }: { project_id: string; now_ms: number },
): Promise<number> {
  const unresolved = await readUnresolved(db, project_id)
  const muting = await readMuting(db, { project_id, now_ms }, async () => unresolved)
  if (unresolved.every((row) => muted(row, muting, now_ms) === undefined)) return 0
  const { messages } = await db.transaction().execute(async (trx) => {
    const book = await openIncidents(trx, { project_id, now_ms })
    const rows = await book.readUnresolved()
    const current = await readMuting(trx, book, async () => rows)
    for (const before of rows) {
      const change = muted(before, current, now_ms)
      if (change !== undefined) book.record({ before, change })
    }
    return book.save()
  })
  return messages
}

function muted(row: StoredIncident, muting: MutingInEffect, now_ms: number): Changed | undefined {
  const core: Incident = coreOf(row)
  return applyMuting(core, muting.of(core, row), now_ms)
}

/** Returns the claimed projects with unresolved incidents that something mutes, or may mute. */
async function findMutableProjects(db: IncidentDb, holder: string): Promise<string[]> {
  const { rows } = await sql<{ project_id: string }>`
    select project_id from incidents where state <> 'resolved'
      and project_id in (select project_id from evaluation_leases where holder = ${holder}::uuid)
    group by project_id
    having bool_or(suppressed)
      or exists (select 1 from incident_suppressions as one
        where one.project_id = incidents.project_id)
      or exists (select 1 from incident_rules as rule
        where rule.project_id = incidents.project_id and not suspended
          and spec -> 'inhibited_by' <> '[]')
    order by project_id
  `.execute(db)
  return rows.map(({ project_id }) => project_id)
}

async function readUnresolved(db: IncidentDb, project_id: string): Promise<StoredIncident[]> {
  return db
    .selectFrom('incidents')
    .selectAll()
    .where('project_id', '=', project_id)
    .where('state', '<>', 'resolved')
    .orderBy('number')
    .execute()
}
