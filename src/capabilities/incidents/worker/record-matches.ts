import { sql } from '../../../platform/relational/index.ts'
import type { Evidence } from '../incident-view.ts'
import type { IncidentDb } from '../ports.ts'
import { dedupKey } from '../rules/dedup-key.ts'
import { admitGroups, type Group, groupKey } from '../rules/groups.ts'
import { routeTable } from '../store/default-route.ts'
import { type IncidentBook, openIncidents, type Saved } from '../store/incident-book.ts'
import { toInstant } from '../store/incident-row.ts'
import { putRecords } from '../store/records.ts'
import { findStates, type NextState, putStates, type StoredRule } from '../store/rule-rows.ts'
import { readMuting } from './muting-in-effect.ts'
import { type OpenBook, recordAdvance } from './record-advance.ts'

/** Matches of an event rule for a group; none for a group that is only looked at by time. */
export type GroupMatches = {
  stored: StoredRule
  group: Group
  /** Times at which the matches were stored, ms since 1970. */
  times_ms: readonly number[]
  evidence: readonly Evidence[]
}

/** When, and of which project, matches are recorded. */
export type MatchContext = {
  project_id: string
  now_ms: number
  forget_after_ms: number
  /** Lag of the project: groups do not end while matches may be on their way. */
  lag_ms: number
}

/** Event rules of one project that are evaluated, and their matches. */
export type EvaluatedEvents = {
  rules: readonly StoredRule[]
  matches: readonly GroupMatches[]
}

/**
 * Records matches of event rules of one project: states, incidents, events and messages. Locks the
 * incidents of the project, so nothing may be locked after it in the transaction. Rules that changed
 * since they were read are left out.
 */
export async function recordMatches(
  trx: IncidentDb,
  given: EvaluatedEvents,
  context: MatchContext,
): Promise<Saved> {
  const { project_id, now_ms } = context
  const book = await openIncidents(trx, { project_id, now_ms })
  const rules = await selectUnchanged(trx, given.rules)
  const isLive = new Set(rules.map(({ id }) => id))
  const matches = given.matches.filter(({ stored }) => isLive.has(stored.id))
  const rule_ids = [...new Set(matches.map(({ stored }) => stored.id))]
  const known = await findStates(trx, { rule_ids })
  const states = new Map(known.map((one) => [`${one.rule_id} ${one.group_key}`, one]))
  const { admitted, overflow } = admit(matches, known)
  await book.readNewest(admitted.map(({ stored, group }) => dedupKey(stored.rule, group)))
  const muting = await readMuting(trx, book, () => book.readUnresolved())
  const route = (await routeTable.read(trx, project_id)).spec
  const next = admitted.map((one): NextState => {
    const key = { rule_id: one.stored.id, group_key: groupKey(one.group) }
    const before = states.get(`${key.rule_id} ${key.group_key}`)?.state ?? null
    return { ...key, state: recordMatch({ book, muting, route }, one, { ...context, before }) }
  })
  const saved = await book.save()
  await putStates(trx, project_id, next)
  await putEvaluations(trx, rules, { now_ms, overflow })
  return saved
}

/** Returns the rules that have the same version as when they were read. */
async function selectUnchanged(
  trx: IncidentDb,
  rules: readonly StoredRule[],
): Promise<StoredRule[]> {
  const rows = await trx
    .selectFrom('incident_rules')
    .select(['id', 'version'])
    .where(sql<boolean>`id = any(${rules.map(({ id }) => id)}::uuid[])`)
    .where('suspended', '=', false)
    .execute()
  const versions = new Map(rows.map(({ id, version }) => [id, version]))
  return rules.filter(({ id, version }) => versions.get(id) === version)
}

/** Leaves out new groups of rules that have all groups they may have. */
function admit(
  matches: readonly GroupMatches[],
  known: readonly { rule_id: string; group_key: string }[],
) {
  const keysOf = Map.groupBy(known, ({ rule_id }) => rule_id)
  const overflow = new Map<string, number>()
  const admitted: GroupMatches[] = []
  for (const [rule_id, own] of Map.groupBy(matches, ({ stored }) => stored.id)) {
    const keys = (keysOf.get(rule_id) ?? []).map(({ group_key }) => group_key)
    const admission = admitGroups(
      keys,
      own.map(({ group }) => groupKey(group)),
    )
    const isAdmitted = new Set(admission.admitted)
    overflow.set(rule_id, admission.overflow)
    admitted.push(...own.filter(({ group }) => isAdmitted.has(groupKey(group))))
  }
  return { admitted, overflow }
}

function recordMatch(
  open: OpenBook,
  { stored, group, times_ms, evidence }: GroupMatches,
  { before, now_ms, forget_after_ms, lag_ms }: MatchContext & { before: NextState['state'] },
): NextState['state'] {
  const { rule } = stored
  const slot = {
    ...({ end_ms: now_ms, pass: 'first', is_last_attempt: false, forget_after_ms } as const),
  }
  const sample = { kind: 'event', matches: times_ms, lag_ms } as const
  const state = recordAdvance(open, { rule, group, state: before }, { sample, slot, evidence })
  if (before?.phase === 'firing') witness(open.book, dedupKey(rule, group), evidence)
  return state
}

/** Adds the matches of a group that fires already to the evidence of its incident. */
function witness(book: IncidentBook, key: string, evidence: readonly Evidence[]): void {
  const newest = book.newest(key)
  if (newest === undefined || newest.state === 'resolved' || evidence.length === 0) return
  book.witness(newest, evidence)
}

async function putEvaluations(
  trx: IncidentDb,
  rules: readonly StoredRule[],
  { now_ms, overflow }: { now_ms: number; overflow: ReadonlyMap<string, number> },
): Promise<void> {
  const now = toInstant(now_ms)
  const { rows } = await sql<{ rule_id: string; groups: number }>`
    select rule_id, count(*)::int as groups from rule_states
    where rule_id = any(${rules.map(({ id }) => id)}::uuid[]) group by rule_id
  `.execute(trx)
  const groups = new Map(rows.map((row) => [row.rule_id, row.groups]))
  const records = rules.map(({ id, project_id, version }) => ({
    rule_id: id,
    project_id,
    rule_version: version,
    last_slot: now,
    evaluated_at: now,
    groups: groups.get(id) ?? 0,
    overflow: overflow.get(id) ?? 0,
    lag_ms: 0,
    partial: false,
    failures: 0,
    last_error: null,
  }))
  const update = ['rule_version', 'last_slot', 'evaluated_at', 'groups', 'overflow', 'failures']
  await putRecords(trx, 'rule_evaluations', records, {
    key: ['rule_id'],
    update: [...update, 'last_error'],
  })
}
