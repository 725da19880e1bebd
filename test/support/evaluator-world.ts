import type { Rule } from '../../src/capabilities/incidents/index.ts'
import {
  Evaluator,
  type EvaluatorOptions,
} from '../../src/capabilities/incidents/worker/open-evaluator.ts'
import { createMetrics } from '../../src/platform/telemetry/index.ts'
import { FakeSignals, type FakeValues } from './fake-signals.ts'
import { type IncidentBench, quietLogger as logger, storedOf } from './incident-bench.ts'
import { at } from './incident-records.ts'
import { minute_ms } from './incident-steps.ts'

/** Minute of a slot. */
export const minuteOf = (end_ms: number) => (end_ms - at(0)) / minute_ms

/** An evaluator of a project of its own, on a clock that the test sets. */
export async function openWorld(bench: IncidentBench, rules: readonly Rule[], values: FakeValues) {
  const { db } = bench
  const project_id = await bench.newProject()
  // The projects of other tests are not evaluated again.
  await db.deleteFrom('incident_rules').execute()
  await db.deleteFrom('evaluation_leases').execute()
  await db.deleteFrom('evaluation_workers').execute()
  await db.updateTable('incidents').set({ timer_at: null }).execute()
  const ids: string[] = []
  for (const rule of rules) ids.push(await bench.addRule(project_id, rule))
  const signals = new FakeSignals(values)
  const time = { now_ms: at(1) }
  const open = (more: Partial<EvaluatorOptions> = {}) => {
    const now = async () => time.now_ms
    const options = {
      db,
      signals,
      logger,
      metrics: createMetrics(),
      now,
      ledger: async () => [],
      ...more,
    }
    return new Evaluator(options)
  }
  /** Evaluates at a minute: the newest slot ends a minute before. */
  const run = async (evaluator: Evaluator, minute: number) => {
    time.now_ms = at(minute + 1)
    await evaluator.claim()
    await evaluator.evaluate()
    await evaluator.settled()
  }
  const evaluation = async (rule_id = ids[0]) =>
    db
      .selectFrom('rule_evaluations')
      .selectAll()
      .where('rule_id', '=', rule_id ?? '')
      .executeTakeFirst()
  return {
    ...{ db, project_id, ids, signals, time, open, run, evaluation },
    stored: () => storedOf(db, project_id),
    messages: async () => {
      const rows = await db
        .selectFrom('notification_outbox')
        .select(['id', 'reason', 'rule_name', 'message'])
        .where('project_id', '=', project_id)
        .orderBy('created_at')
        .orderBy('event_seq')
        .execute()
      return rows.map(({ reason, rule_name }) => `${rule_name} ${reason}`)
    },
  }
}

/** High from minute 2 to 4. */
export const spike: FakeValues = (_, end_ms) => {
  const minute = minuteOf(end_ms)
  return minute >= 2 && minute <= 4 ? 9 : 0
}
