import { canonicalJson } from '../../../kernel/canonical-json.ts'
import { sql } from '../../../platform/relational/index.ts'
import type { LedgerSums } from '../../storage/index.ts'
import {
  countsOf,
  cursorStart,
  type LedgerCursor,
  ledgerMatches,
} from '../evaluation/ledger-matches.ts'
import { step } from '../evaluation/step.ts'
import type { IncidentDb, Signals } from '../ports.ts'
import type { Group } from '../rules/groups.ts'
import { lockIncidents, type Saved } from '../store/incident-book.ts'
import { findStates, type StoredRule } from '../store/rule-rows.ts'
import { findEventRules } from './match-findings.ts'
import { type GroupMatches, recordMatches } from './record-matches.ts'

/** Reads the items of requests that arrived since an instant, by outcome and reason. */
export type LedgerSince = (
  project_id: string,
  from_ms: number,
  now_ms: number,
) => Promise<LedgerSums[]>

/** The ports of a tick. */
export type TickPorts = {
  db: IncidentDb
  lag: Signals['lag']
  ledger: LedgerSince
  now_ms: number
  forget_after_ms: number
}

/** The stored changes of a tick; pending if time alone can change more. */
export type Ticked = Saved & { is_pending: boolean }

/**
 * Ends the groups of event rules whose last match is older than `keep_firing_for`, and forgets those
 * without matches. A version of a rule that was not evaluated yet counts as evaluated.
 */
export async function tickEvents(ports: TickPorts, project_id: string): Promise<Ticked> {
  const { db, now_ms, forget_after_ms } = ports
  const rules = await findEventRules(db, project_id)
  const fresh = await selectUnevaluated(db, rules)
  const { is_pending, matches } = await findOver(ports, rules)
  if (fresh.length + matches.length === 0) return { ...none, is_pending }
  const lag_ms = matches.length === 0 ? 0 : await ports.lag(project_id, now_ms)
  const touched = new Set([...fresh, ...matches.map(({ stored }) => stored)])
  const context = { project_id, now_ms, forget_after_ms, lag_ms }
  const saved = await db
    .transaction()
    .execute((trx) => recordMatches(trx, { rules: [...touched], matches }, context))
  return { ...saved, is_pending: true }
}

const none: Saved = { opened: 0, messages: 0 }

async function selectUnevaluated(
  db: IncidentDb,
  rules: readonly StoredRule[],
): Promise<StoredRule[]> {
  if (rules.length === 0) return []
  const rows = await db
    .selectFrom('rule_evaluations')
    .select(['rule_id', 'rule_version'])
    .where(sql<boolean>`rule_id = any(${rules.map(({ id }) => id)}::uuid[])`)
    .execute()
  const versions = new Map(rows.map((row) => [row.rule_id, row.rule_version]))
  return rules.filter(({ id, version }) => versions.get(id) !== version)
}

/**
 * Returns the groups that time changes: those that end, or that are forgotten. Pending while rules
 * have groups.
 */
async function findOver(
  { db, now_ms, forget_after_ms }: TickPorts,
  rules: readonly StoredRule[],
): Promise<{ is_pending: boolean; matches: GroupMatches[] }> {
  const byId = new Map(rules.map((stored) => [stored.id, stored]))
  const states = await findStates(db, { rule_ids: [...byId.keys()] })
  const sample = { kind: 'event', matches: [], lag_ms: 0 } as const
  const slot = {
    ...({ end_ms: now_ms, pass: 'first', is_last_attempt: false, forget_after_ms } as const),
    has_open_incident: false,
  }
  const matches = states.flatMap(({ rule_id, group_key, state }) => {
    const stored = byId.get(rule_id)
    if (stored === undefined) return []
    const { transitions } = step(stored.rule, state, sample, slot)
    if (transitions.length === 0) return []
    return [{ stored, group: JSON.parse(group_key) as Group, times_ms: [], evidence: [] }]
  })
  return { is_pending: states.length > 0, matches }
}

/**
 * Evaluates the ledger rules of a project: what the ledger counted since the cursor of each rule. The
 * cursor moves in the transaction that records the matches. A new rule begins with what is counted
 * already.
 */
export async function tickLedger(ports: TickPorts, project_id: string): Promise<Ticked> {
  const { db, now_ms, forget_after_ms } = ports
  const rules = (await findEventRules(db, project_id)).filter(
    ({ rule }) => rule.event?.match.source === 'ledger',
  )
  if (rules.length === 0) return { ...none, is_pending: false }
  const before = await findCursors(db, rules)
  const moves = await moveCursors(ports, project_id, { rules, before })
  const is_pending = true
  if (moves.length === 0) return { ...none, is_pending }
  const saved = await db.transaction().execute(async (trx) => {
    await lockIncidents(trx, project_id)
    const now = await findCursors(trx, rules)
    // Another process may have counted the same items.
    const own = moves.filter(({ stored }) => isSame(now.get(stored.id), before.get(stored.id)))
    const matches = own.filter(({ times_ms }) => times_ms.length > 0)
    const touched = own.map(({ stored }) => stored)
    const context = { project_id, now_ms, forget_after_ms, lag_ms: 0 }
    const saved = await recordMatches(trx, { rules: touched, matches }, context)
    await putCursors(trx, own)
    return saved
  })
  return { ...saved, is_pending }
}

type CursorMove = GroupMatches & { cursor: LedgerCursor }

type Cursors = ReadonlyMap<string, LedgerCursor | null>

async function moveCursors(
  { ledger, now_ms }: TickPorts,
  project_id: string,
  { rules, before }: { rules: readonly StoredRule[]; before: Cursors },
): Promise<CursorMove[]> {
  const read = new Map<number, Promise<LedgerCursor>>()
  const since = (from_ms: number) => {
    const known = read.get(from_ms)
    if (known !== undefined) return known
    const counting = ledger(project_id, from_ms, now_ms).then((sums) => {
      return { from_ms, counts: countsOf(sums) }
    })
    read.set(from_ms, counting)
    return counting
  }
  const moves = await Promise.all(
    rules.map(async (stored): Promise<CursorMove | undefined> => {
      const last = before.get(stored.id) ?? null
      // Counted before the old window is read, so that an item in between is counted twice, not lost.
      const cursor = await since(cursorStart(now_ms))
      const group = { stored, group: {}, times_ms: [], evidence: [] }
      if (last === null) return { ...group, cursor }
      const current = await since(last.from_ms)
      const found = ledgerMatches(stored.rule, last, { counts: current.counts, now_ms })
      return isSame(last, cursor) ? undefined : { ...group, ...found, cursor }
    }),
  )
  return moves.filter((move) => move !== undefined)
}

async function findCursors(db: IncidentDb, rules: readonly StoredRule[]): Promise<Cursors> {
  const rows = await db
    .selectFrom('rule_evaluations')
    .select(['rule_id', 'cursor'])
    .where(sql<boolean>`rule_id = any(${rules.map(({ id }) => id)}::uuid[])`)
    .execute()
  return new Map(rows.map(({ rule_id, cursor }) => [rule_id, cursor as LedgerCursor | null]))
}

async function putCursors(trx: IncidentDb, moves: readonly CursorMove[]): Promise<void> {
  for (const { stored, cursor } of moves) {
    await trx
      .updateTable('rule_evaluations')
      .set({ cursor: JSON.stringify(cursor) })
      .where('rule_id', '=', stored.id)
      .execute()
  }
}

function isSame(one: LedgerCursor | null | undefined, other: LedgerCursor | null | undefined) {
  return canonicalJson(one ?? null) === canonicalJson(other ?? null)
}
