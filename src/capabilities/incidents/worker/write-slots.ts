import { sql } from '../../../platform/relational/index.ts'
import { isPartial } from '../evaluation/outcome.ts'
import type { IncidentDb } from '../ports.ts'
import { routeTable } from '../store/default-route.ts'
import { openIncidents, type Saved } from '../store/incident-book.ts'
import { toInstant } from '../store/incident-row.ts'
import { jsonOf, putRecords, storableText } from '../store/records.ts'
import { findStates, putStates } from '../store/rule-rows.ts'
import {
  changedStates,
  dedupKeysOf,
  evaluateSlots,
  type RuleAtHand,
  type SampleRow,
  toRulesAtHand,
} from './evaluate-slots.ts'
import { type Holder, holdsLease, type Lease } from './leases.ts'
import { readMuting } from './muting-in-effect.ts'
import { completedSlot, type MeasuredRule } from './project-slots.ts'

/** Slots of rules of one project that were measured. */
export type SlotsToWrite = Pick<Holder, 'holder'> & {
  lease: Lease
  rules: readonly MeasuredRule[]
  lag_ms: number
  now_ms: number
  forget_after_ms: number
}

/** The result of writing slots, with the number of rules by the result of their evaluation. */
export type WrittenSlots =
  | (Saved & { kind: 'written'; complete: number; partial: number; failed: number })
  /** The lease ended, or another process has it: nothing was written. */
  | { kind: 'lease_lost' }

/**
 * Evaluates measured slots and writes states, incidents, events and messages in one transaction. A
 * rule that changed, or that another process evaluated, since it was read is left out.
 */
export function writeSlots(db: IncidentDb, work: SlotsToWrite): Promise<WrittenSlots> {
  const { lease, now_ms, rules } = work
  const { project_id } = lease
  return db.transaction().execute(async (trx): Promise<WrittenSlots> => {
    if (!(await holdsLease(trx, lease, work))) return { kind: 'lease_lost' }
    const book = await openIncidents(trx, { project_id, now_ms })
    const before = await findEvaluations(trx, rules)
    const unchanged = rules.filter((one) => isUnchanged(one, before.get(one.due.id)))
    const rule_ids = unchanged.map(({ due }) => due.id)
    const atHand = toRulesAtHand(unchanged, await findStates(trx, { rule_ids }))
    await book.readNewest(dedupKeysOf(atHand))
    const muting = await readMuting(trx, book, () => book.readUnresolved())
    const route = (await routeTable.read(trx, project_id)).spec
    const samples = evaluateSlots({ book, muting, route }, atHand, work)
    const saved = await book.save()
    await putStates(trx, project_id, atHand.flatMap(changedStates))
    await writeSamples(trx, samples)
    const rows = atHand.map((one) => toEvaluation(one, before.get(one.measured.due.id), work))
    await writeEvaluations(trx, rows)
    const failed = rows.filter(({ last_error }) => last_error !== null).length
    const partial = rows.filter((row) => row.partial && row.last_error === null).length
    return { kind: 'written', ...saved, failed, partial, complete: rows.length - failed - partial }
  })
}

/** The stored evaluation of a rule that is evaluated. */
type EvaluationBefore = {
  version: number
  rule_version: number | null
  last_slot: string | null
  gap_from: string | null
  gap_to: string | null
  failures: number | null
}

async function findEvaluations(
  trx: IncidentDb,
  rules: readonly MeasuredRule[],
): Promise<Map<string, EvaluationBefore>> {
  const rows = await trx
    .selectFrom('incident_rules')
    .leftJoin('rule_evaluations', 'rule_id', 'id')
    .select(['id', 'version', 'rule_version', 'last_slot', 'gap_from', 'gap_to', 'failures'])
    .where(sql<boolean>`id = any(${rules.map(({ due }) => due.id)}::uuid[])`)
    .where('suspended', '=', false)
    .execute()
  return new Map(rows.map(({ id, ...row }) => [id, row]))
}

/** Returns whether the rule and its last slot are as they were when its slots were planned. */
function isUnchanged({ due }: MeasuredRule, now: EvaluationBefore | undefined): boolean {
  if (now === undefined || now.version !== due.version) return false
  const last_ms = now.last_slot === null ? null : Date.parse(now.last_slot)
  return last_ms === due.last_ms
}

/** Returns the row of `rule_evaluations` after an evaluation. */
function toEvaluation(
  { measured, states, overflow }: RuleAtHand,
  before: EvaluationBefore | undefined,
  { lag_ms, now_ms }: SlotsToWrite,
) {
  const { due, plan, error } = measured
  const done_ms = completedSlot(measured, lag_ms)
  const isPastGap = plan.gap !== null && done_ms !== null && done_ms > plan.gap.to_ms
  const gap = isPastGap ? plan.gap : null
  const isWaiting = isPartial(due.rule, { lag_ms })
  return {
    rule_id: due.id,
    project_id: due.project_id,
    rule_version: done_ms === null ? (before?.rule_version ?? 0) : due.version,
    last_slot: done_ms === null ? (before?.last_slot ?? null) : toInstant(done_ms),
    evaluated_at: toInstant(now_ms),
    groups: states.size,
    overflow,
    gap_from: gap === null ? (before?.gap_from ?? null) : toInstant(gap.from_ms),
    gap_to: gap === null ? (before?.gap_to ?? null) : toInstant(gap.to_ms),
    lag_ms: Math.round(lag_ms),
    partial: isWaiting && plan.first.at(-1)?.is_last_attempt === false,
    failures: error === undefined ? 0 : (before?.failures ?? 0) + 1,
    last_error: error === undefined ? null : storableText(error).slice(0, error_chars_max),
  }
}

const error_chars_max = 500

async function writeEvaluations(
  trx: IncidentDb,
  rows: readonly ReturnType<typeof toEvaluation>[],
): Promise<void> {
  const columns = Object.keys(rows[0] ?? {})
  const update = columns.filter((column) => column !== 'rule_id' && column !== 'project_id')
  await putRecords(trx, 'rule_evaluations', rows, { key: ['rule_id'], update })
}

/** Writes samples; a late pass that measured the same value again writes nothing. */
async function writeSamples(trx: IncidentDb, rows: readonly SampleRow[]): Promise<void> {
  if (rows.length === 0) return
  await sql`
    insert into rule_samples (rule_id, group_key, slot, project_id, value, samples, lag_ms)
    select rule_id, group_key, slot, project_id, value, samples, lag_ms
    from jsonb_populate_recordset(null::rule_samples, ${jsonOf(rows)}::jsonb) as given
    where not exists (
      select 1 from rule_samples as known
      where known.rule_id = given.rule_id and known.group_key = given.group_key
        and known.slot = given.slot and known.samples = given.samples
        and known.value is not distinct from given.value
    )
    on conflict (rule_id, group_key, slot) do update
      set value = excluded.value, samples = excluded.samples, lag_ms = excluded.lag_ms
  `.execute(trx)
}
