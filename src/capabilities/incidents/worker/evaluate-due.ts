import { backOff } from '../../../kernel/back-off.ts'
import { Semaphore } from '../../../kernel/semaphore.ts'
import { isRelationalUnavailable, sql } from '../../../platform/relational/index.ts'
import type { Logger } from '../../../platform/telemetry/index.ts'
import { runInProject } from '../../../platform/tenancy/index.ts'
import { newestSlot } from '../evaluation/slots.ts'
import type { IncidentDb, Measured, Signals } from '../ports.ts'
import type { Group } from '../rules/groups.ts'
import type { Rule } from '../rules/rule.ts'
import { toRule } from '../store/rule-rows.ts'
import type { EvaluatorMeters, EvaluatorSettings } from './evaluator-settings.ts'
import type { Lease } from './leases.ts'
import {
  type DueRule,
  earlierSlotsOf,
  type MeasuredRule,
  planRules,
  slotsOf,
  toMeasuredRules,
  withEarlierGroups,
} from './project-slots.ts'
import { type SlotsToWrite, writeSlots } from './write-slots.ts'

/** The ports of an evaluator. */
export type EvaluatorPorts = {
  db: IncidentDb
  signals: Signals
  logger: Logger
  meters: EvaluatorMeters
  settings: EvaluatorSettings
  /** Id of this process in leases. */
  holder: string
  /** Time by the database, which all processes share; ms since 1970. */
  now: () => Promise<number>
  /** Called after messages were stored. */
  wakeSender: () => void
}

/** Evaluates the due rules of projects, several projects side by side. */
export class SlotEvaluator {
  readonly #ports: EvaluatorPorts
  readonly #cache: RuleCache
  readonly #permits: Semaphore
  /** Projects that are being evaluated. */
  readonly #running = new Map<string, Promise<void>>()

  constructor(ports: EvaluatorPorts) {
    this.#ports = ports
    this.#cache = new RuleCache(ports.db)
    this.#permits = new Semaphore({ permits_max: ports.settings.projects_max })
  }

  /**
   * Starts the evaluation of all due rules of these projects. A project that is still being
   * evaluated is left out, so that a slow one does not hold up the others.
   */
  async start(leases: readonly Lease[], stopping: AbortSignal): Promise<void> {
    const now_ms = await this.#ports.now()
    const due = await this.#findDue(leases, now_ms)
    for (const [lease, rules] of due) {
      const { project_id } = lease
      if (this.#running.has(project_id)) continue
      const work = this.#permits
        .run(() => runInProject(project_id, () => this.#evaluate(lease, rules, stopping)))
        .catch((error: unknown) => {
          if (stopping.aborted) return
          this.#ports.logger.warn({ err: error, project_id }, 'evaluating incident rules failed')
        })
        .finally(() => this.#running.delete(project_id))
      this.#running.set(project_id, work)
    }
  }

  /** Resolves when no project is being evaluated. */
  async settled(): Promise<void> {
    await Promise.all(this.#running.values())
  }

  async #findDue(leases: readonly Lease[], now_ms: number): Promise<Map<Lease, DueRule[]>> {
    const byProject = new Map(leases.map((lease) => [lease.project_id, lease]))
    const rows = await findLastSlots(this.#ports.db, [...byProject.keys()])
    const rules = await this.#cache.load(rows)
    const due = new Map<Lease, DueRule[]>()
    for (const { evaluated_at, partial, failures, last_slot, ...row } of rows) {
      const rule = rules.get(row.id)
      const lease = byProject.get(row.project_id)
      if (rule === undefined || lease === undefined) continue
      const last_ms = last_slot === null ? null : Date.parse(last_slot)
      if (last_ms !== null && newestSlot(rule, now_ms) <= last_ms) continue
      if (now_ms < this.#notBefore({ evaluated_at, partial, failures })) continue
      due.set(lease, [...(due.get(lease) ?? []), { ...row, rule, last_ms, known: [] }])
    }
    return due
  }

  /** Returns the time before which a rule that failed or waits for rows is not evaluated again. */
  #notBefore({ evaluated_at, partial, failures }: Waiting): number {
    if (evaluated_at === null) return 0
    const { retry_ms: base_ms, retry_ms_max: max_ms, partial_ms } = this.#ports.settings
    const evaluated_ms = Date.parse(evaluated_at)
    if (failures !== null && failures > 0) {
      return evaluated_ms + backOff({ base_ms, max_ms }, failures)
    }
    return partial === true ? evaluated_ms + partial_ms : 0
  }

  async #evaluate(lease: Lease, due: readonly DueRule[], stopping: AbortSignal): Promise<void> {
    if (stopping.aborted) return
    const { meters, settings } = this.#ports
    const begun_ms = performance.now()
    const now_ms = await this.#ports.now()
    const { rules, lag_ms } = await this.#measure(lease, due, { now_ms, stopping })
    for (let at = 0; at < rules.length; at += settings.rules_max) {
      const some = rules.slice(at, at + settings.rules_max)
      const isHeld = await this.#write({ lease, rules: some, lag_ms, now_ms })
      if (!isHeld) return meters.leasesLost.inc()
    }
    meters.duration.observe((performance.now() - begun_ms) / 1000)
  }

  /**
   * Writes slots. If a rule is at fault, writes each rule by itself, so that the others succeed.
   */
  async #write(some: SomeRules): Promise<boolean> {
    try {
      return await this.#writeTogether(some)
    } catch (error) {
      if (isRelationalUnavailable(error)) throw error
      const [rule] = some.rules
      if (some.rules.length > 1) {
        for (const one of some.rules) {
          if (!(await this.#write({ ...some, rules: [one] }))) return false
        }
        return true
      }
      if (rule === undefined || rule.slots.length === 0) throw error
      const { id: rule_id, project_id } = rule.due
      this.#ports.logger.error({ err: error, rule_id, project_id }, 'evaluating a rule failed')
      const reason = 'The rule could not be evaluated. See the log of the worker.'
      return this.#writeTogether({ ...some, rules: [{ ...rule, slots: [], error: reason }] })
    }
  }

  /** Returns false if the lease is lost. */
  async #writeTogether(some: SomeRules): Promise<boolean> {
    const { db, meters, holder, wakeSender, settings } = this.#ports
    const { forget_after_ms } = settings
    const written = await writeSlots(db, { ...some, holder, forget_after_ms })
    if (written.kind === 'lease_lost') return false
    for (const result of ['complete', 'partial', 'failed'] as const) {
      meters.evaluations.inc({ result }, written[result])
    }
    meters.opened.inc(written.opened)
    if (written.messages > 0) wakeSender()
    return true
  }

  /** Measures the planned slots. A failure is the result of each of them. */
  async #measure(
    { project_id }: Lease,
    due: readonly DueRule[],
    { now_ms, stopping }: { now_ms: number; stopping: AbortSignal },
  ): Promise<{ rules: MeasuredRule[]; lag_ms: number }> {
    const { signals, settings, logger } = this.#ports
    const plans = planRules(await withKnownGroups(this.#ports.db, due), now_ms)
    const slots = slotsOf(plans)
    if (slots.length === 0) return { rules: [], lag_ms: 0 }
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(settings.measure_ms_max)])
    try {
      const lag_ms = await signals.lag(project_id, now_ms)
      const measured = await signals.measure({ project_id, slots, lag_ms, signal })
      const first = earlierSlotsOf(plans)
      const ask = { project_id, slots: first, lag_ms, signal }
      const earlier = first.length === 0 ? [] : await signals.measure(ask)
      return { rules: withEarlierGroups(toMeasuredRules(plans, measured), earlier), lag_ms }
    } catch (error) {
      // A measurement that the stop of this process interrupted says nothing about the rules.
      stopping.throwIfAborted()
      logger.warn({ err: error, project_id }, 'measuring signals failed; rules keep their state')
      const reason = 'The signals could not be measured. See the log of the worker.'
      const failed = slots.map((slot): Measured => ({ ...slot, error: reason }))
      return { rules: toMeasuredRules(plans, failed), lag_ms: 0 }
    }
  }
}

/** Reads which groups rules have, so that they are measured even if more groups have rows. */
async function withKnownGroups(db: IncidentDb, due: readonly DueRule[]): Promise<DueRule[]> {
  const grouped = due.filter(({ rule }) => rule.group_by.length > 0)
  if (grouped.length === 0) return [...due]
  const rows = await db
    .selectFrom('rule_states')
    .select(['rule_id', 'group_key'])
    .where(sql<boolean>`rule_id = any(${grouped.map(({ id }) => id)}::uuid[])`)
    .execute()
  const byRule = Map.groupBy(rows, ({ rule_id }) => rule_id)
  return due.map((one) => {
    const keys = byRule.get(one.id) ?? []
    return { ...one, known: keys.map(({ group_key }) => JSON.parse(group_key) as Group) }
  })
}

type SomeRules = Pick<SlotsToWrite, 'lease' | 'rules' | 'lag_ms' | 'now_ms'>

type Waiting = {
  evaluated_at: string | null
  partial: boolean | null
  failures: number | null
}

type LastSlot = Waiting & {
  id: string
  project_id: string
  version: number
  last_slot: string | null
}

/** Returns the last slots of all rules of these projects, without event rules. */
async function findLastSlots(db: IncidentDb, projects: readonly string[]): Promise<LastSlot[]> {
  if (projects.length === 0) return []
  return db
    .selectFrom('incident_rules')
    .leftJoin('rule_evaluations', 'rule_id', 'id')
    .select(['id', 'incident_rules.project_id', 'version', 'last_slot'])
    .select(['evaluated_at', 'partial', 'failures'])
    .where(sql<boolean>`incident_rules.project_id = any(${[...projects]}::uuid[])`)
    .where('suspended', '=', false)
    .where('kind', '<>', 'event')
    .orderBy('id')
    .execute()
}

type Versioned = { version: number; rule: Rule }

/** The rules that this process evaluates, in their newest versions. Each version is read once. */
class RuleCache {
  readonly #db: IncidentDb
  #known = new Map<string, Versioned>()

  constructor(db: IncidentDb) {
    this.#db = db
  }

  /** Returns these versions of rules by id, and forgets all other rules. */
  async load(
    wanted: readonly { id: string; version: number }[],
  ): Promise<ReadonlyMap<string, Rule>> {
    const missing = wanted.filter(({ id, version }) => this.#known.get(id)?.version !== version)
    const fresh = new Map<string, Versioned>()
    if (missing.length > 0) {
      const rows = await this.#db
        .selectFrom('incident_rules')
        .select(['id', 'version', 'spec'])
        .where(sql<boolean>`id = any(${missing.map(({ id }) => id)}::uuid[])`)
        .execute()
      for (const { id, version, spec } of rows) fresh.set(id, { version, rule: toRule(spec) })
    }
    const next = new Map<string, Versioned>()
    for (const { id, version } of wanted) {
      const one = fresh.get(id) ?? this.#known.get(id)
      if (one?.version === version) next.set(id, one)
    }
    this.#known = next
    return new Map([...next].map(([id, { rule }]) => [id, rule]))
  }
}
