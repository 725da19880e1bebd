import { sql } from '../../../platform/relational/index.ts'
import type { GroupState } from '../evaluation/contract.ts'
import { afterReopen, afterResolve } from '../evaluation/step.ts'
import type { Actor, Contributor, Incident } from '../life-cycle/incident.ts'
import { type Move, type Moved, moveIncident } from '../life-cycle/move.ts'
import { orphan } from '../life-cycle/record-transition.ts'
import type { IncidentDb } from '../ports.ts'
import { dedupKey } from '../rules/dedup-key.ts'
import type { Group } from '../rules/groups.ts'
import { type IncidentBook, lockIncidents, openIncidents } from './incident-book.ts'
import { coreOf, type StoredIncident } from './incident-row.ts'
import { jsonOf } from './records.ts'
import { findRulesByName, findStates, type StoredRule, type StoredState } from './rule-rows.ts'

/** A move as people ask for it. */
export type MoveRequest = { note?: string | undefined } & (
  | { type: 'ack' | 'resolve' | 'reopen' | 'comment' }
  | { type: 'assign'; assignee: string | null }
  | { type: 'suppress'; suppressed: boolean; until_ms?: number | undefined }
)

/** A move of an incident by a person, a key or a channel. */
export type MoveOfIncident = {
  project_id: string
  incident_id: string
  move: MoveRequest
  actor: Actor
  /** Version in `If-Match`. */
  if_match?: number | undefined
  now_ms: number
}

/** The result of a move, with the stored incident. */
export type StoredMove =
  | { kind: 'moved' | 'unchanged'; incident: StoredIncident }
  | (Extract<Moved, { kind: 'refused' }> & { incident: StoredIncident })

/**
 * Moves a stored incident in one transaction, with the states of the groups that a resolve or a
 * reopening changes. Returns undefined if the project has no such incident.
 */
export async function moveStored(
  db: IncidentDb,
  asked: MoveOfIncident,
): Promise<StoredMove | undefined> {
  return db.transaction().execute((trx) => moveInTransaction(trx, asked))
}

/** Moves a stored incident in a transaction that begins before; see `moveStored`. */
export async function moveInTransaction(
  trx: IncidentDb,
  { project_id, incident_id, move, actor, if_match, now_ms }: MoveOfIncident,
): Promise<StoredMove | undefined> {
  const book = await openIncidents(trx, { project_id, now_ms })
  const before = await book.read(incident_id)
  if (before === undefined) return undefined
  const core = coreOf(before)
  const groups = await readGroups(trx, project_id, core)
  const facts = move.type === 'reopen' ? await reopenFacts(book, before, groups) : {}
  const complete = { ...move, ...facts, at_ms: now_ms, if_match } as Move
  const moved = moveIncident(core, complete, actor)
  if (moved.kind === 'refused') return { ...moved, incident: before }
  if (moved.kind === 'unchanged') return { kind: 'unchanged', incident: before }
  const incident = book.record({ before, change: moved })
  await book.save()
  await writeStates(trx, movedGroups(core, moved.incident, groups, now_ms))
  return { kind: 'moved', incident }
}

/**
 * Detaches a rule that was suspended, edited or deleted from its incidents, in the transaction of
 * that change, and forgets its groups: the next version begins without state.
 */
export async function orphanRule(
  trx: IncidentDb,
  { project_id, rule_name, now_ms }: { project_id: string; rule_name: string; now_ms: number },
): Promise<void> {
  const book = await openIncidents(trx, { project_id, now_ms })
  const { rows } = await sql<{ id: string }>`
    select id from incidents where project_id = ${project_id} and state <> 'resolved'
      and core -> 'rules' ? ${rule_name}
  `.execute(trx)
  for (const before of await book.readAll(rows.map(({ id }) => id))) {
    const change = orphan(coreOf(before), rule_name, now_ms)
    if (change !== undefined) book.record({ before, change })
  }
  await book.save()
  await sql`
    with rule as (
      select id from incident_rules where project_id = ${project_id} and name = ${rule_name}
    ), states as (
      delete from rule_states using rule where rule_id = rule.id
    )
    update rule_evaluations set last_slot = null, groups = 0, overflow = 0, partial = false,
      failures = 0, last_error = null, cursor = null
    from rule where rule_id = rule.id
  `.execute(trx)
}

/**
 * Records that a channel accepted a message that announces the incident as firing. With the
 * `event_seq` of the message, a message from before the last reopening does not count.
 */
export async function deliveredOpening(
  trx: IncidentDb,
  incident_id: string,
  event_seq = Number.MAX_SAFE_INTEGER,
): Promise<void> {
  const row = await trx
    .selectFrom('incidents')
    .select('project_id')
    .where('id', '=', incident_id)
    .where(sql<boolean>`core ->> 'opened_delivered' = 'false'`)
    .executeTakeFirst()
  if (row === undefined) return
  // A change in another transaction would write the incident as it read it before.
  await lockIncidents(trx, row.project_id)
  await sql`
    update incidents set core = jsonb_set(core, '{opened_delivered}', 'true')
    where id = ${incident_id} and not exists (
      select 1 from incident_events
      where incident_id = ${incident_id} and seq > ${event_seq}
        and type in ('opened', 'reopened', 'flapping')
    )
  `.execute(trx)
}

/** A group of a rule that may contribute to an incident. */
type RuleGroup = StoredState & { stored: StoredRule }

/** Reads the groups of the rules of an incident that have its dedup key. */
async function readGroups(
  trx: IncidentDb,
  project_id: string,
  { rules, dedup_key }: Incident,
): Promise<RuleGroup[]> {
  const known = await findRulesByName(trx, project_id, rules)
  const byId = new Map([...known.values()].map((stored) => [stored.id, stored]))
  const states = await findStates(trx, { rule_ids: [...byId.keys()] })
  return states.flatMap((state) => {
    const stored = byId.get(state.rule_id)
    if (stored === undefined) return []
    const group = JSON.parse(state.group_key) as Group
    return dedupKey(stored.rule, group) === dedup_key ? [{ ...state, stored }] : []
  })
}

/** Returns the facts about other incidents and groups that a reopening needs. */
async function reopenFacts(
  book: IncidentBook,
  row: StoredIncident,
  groups: readonly RuleGroup[],
): Promise<Pick<Extract<Move, { type: 'reopen' }>, 'has_newer' | 'openings_ms' | 'quiet'>> {
  await book.readNewest([row.dedup_key])
  const newest = book.newest(row.dedup_key) ?? row
  const quiet: Contributor[] = groups
    .filter(({ state }) => state.phase === 'quiet')
    .map(({ stored, group_key: group }) => ({ rule: stored.rule.name, group }))
  return {
    has_newer: newest.id !== row.id && newest.state !== 'resolved',
    openings_ms: coreOf(newest).openings_ms,
    quiet,
  }
}

/** Returns the states that a resolve or a reopening changes. */
function movedGroups(
  before: Incident,
  after: Incident,
  groups: readonly RuleGroup[],
  at_ms: number,
): StoredState[] {
  const next = ({ state, stored }: RuleGroup): GroupState => {
    if (before.state === 'resolved') return afterReopen(state, after)
    return afterResolve(stored.rule, state, at_ms)
  }
  const isEnd = after.state === 'resolved'
  if (isEnd === (before.state === 'resolved')) return []
  return groups.map((group) => ({ ...group, state: next(group) }))
}

/** Writes states of groups that exist. */
async function writeStates(trx: IncidentDb, states: readonly StoredState[]): Promise<void> {
  if (states.length === 0) return
  const records = states.map(({ rule_id, group_key, state }) => {
    return { rule_id, group_key, state, firing: state.phase === 'firing' }
  })
  await sql`
    update rule_states as known set state = given.state, firing = given.firing
    from jsonb_populate_recordset(null::rule_states, ${jsonOf(records)}::jsonb) as given
    where known.rule_id = given.rule_id and known.group_key = given.group_key
  `.execute(trx)
}
