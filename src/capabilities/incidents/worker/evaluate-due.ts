import { Semaphore } from '../../../kernel/semaphore.ts'
import { isRelationalUnavailable, sql } from '../../../platform/relational/index.ts'
import type { Logger } from '../../../platform/telemetry/index.ts'
import { runInProject } from '../../../platform/tenancy/index.ts'
import type { IncidentDb, Measured, Signals } from '../ports.ts'
import type { Group } from '../rules/groups.ts'
import { type DueProject, findDueProjects, type NextDue, scheduleProjects } from './due-projects.ts'
import type { EvaluatorMeters, EvaluatorSettings } from './evaluator-settings.ts'
import type { Lease } from './leases.ts'
import { type LastEvaluation, nextDue } from './next-due.ts'
import {
  type DueRule,
  earlierSlotsOf,
  type MeasuredRule,
  planRules,
  slotsOf,
  toMeasuredRules,
  withEarlierGroups,
} from './project-slots.ts'
import { RuleCache } from './rule-cache.ts'
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
    this.#cache = new RuleCache(ports.db, ports.settings.cached_rules_max)
    this.#permits = new Semaphore({ permits_max: ports.settings.projects_max })
  }

  /**
   * Starts the evaluation of the due rules of the claimed projects, up to `due_projects_max`
   * projects at once. A project that is still being evaluated is left out, so that a slow one does
   * not hold up the others. Returns the ms until the next look: `poll_ms` while projects are
   * evaluated, because their next times are not known yet.
   */
  async start(stopping: AbortSignal): Promise<number> {
    const { db, now, holder, settings } = this.#ports
    const now_ms = await now()
    const but = [...this.#running.keys()]
    const limit = settings.due_projects_max - but.length
    const search = { holder, kind: 'due_at', now_ms, but, limit } as const
    const { projects, next_ms } = await findDueProjects(db, search)
    const found = await this.#findDue(projects, now_ms)
    await scheduleProjects(
      db,
      'due_at',
      found.filter(({ due }) => due.length === 0).map(({ next }) => next),
    )
    for (const { next, due } of found) if (due.length > 0) this.#start(next, due, stopping)
    if (projects.length === limit) return 0
    return this.#running.size > 0 ? settings.poll_ms : next_ms - now_ms
  }

  #start(project: DueProject, rules: readonly DueRule[], stopping: AbortSignal): void {
    const { project_id } = project
    const evaluate = async () => {
      await this.#evaluate(project, rules, stopping)
      if (!stopping.aborted) await this.#schedule(project)
    }
    const work = this.#permits
      .run(() => runInProject(project_id, evaluate))
      .catch(async (error: unknown) => {
        if (stopping.aborted) return
        this.#ports.logger.warn({ err: error, project_id }, 'evaluating incident rules failed')
        await runInProject(project_id, () => this.#postpone(project)).catch(() => undefined)
      })
      .finally(() => this.#running.delete(project_id))
    this.#running.set(project_id, work)
  }

  /** Sets when an evaluated project is due next. */
  async #schedule(project: DueProject): Promise<void> {
    const found = await this.#findDue([project], Number.NEGATIVE_INFINITY)
    await scheduleProjects(
      this.#ports.db,
      'due_at',
      found.map(({ next }) => next),
    )
  }

  /** Lets the other projects go first after a failure. */
  async #postpone(project: DueProject): Promise<void> {
    const { db, now, settings } = this.#ports
    const due_ms = (await now()) + settings.retry_ms
    await scheduleProjects(db, 'due_at', [{ ...project, due_ms }])
  }

  /** Resolves when no project is being evaluated. */
  async settled(): Promise<void> {
    await Promise.all(this.#running.values())
  }

  /** Returns the due rules of projects, and when each project is due next. */
  async #findDue(projects: readonly DueProject[], now_ms: number): Promise<FoundProject[]> {
    const ids = projects.map(({ project_id }) => project_id)
    const rows = await findLastSlots(this.#ports.db, ids)
    const rules = await this.#cache.load(rows)
    const byProject = Map.groupBy(rows, ({ project_id }) => project_id)
    return projects.map((project) => {
      const next: NextDue = { ...project, due_ms: Number.POSITIVE_INFINITY }
      const due: DueRule[] = []
      for (const { id, version, project_id, ...last } of byProject.get(project.project_id) ?? []) {
        const rule = rules.get(id)
        // A rule that was replaced meanwhile has made its project due again.
        if (rule === undefined) continue
        const due_ms = nextDue(rule, last, this.#ports.settings)
        next.due_ms = Math.min(next.due_ms, due_ms)
        const last_ms = last.last_slot === null ? null : Date.parse(last.last_slot)
        if (due_ms <= now_ms) due.push({ id, version, project_id, rule, last_ms, known: [] })
      }
      return { next, due }
    })
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

/** A project with its due rules; `next` is when the earliest of its rules is due. */
type FoundProject = { next: NextDue; due: DueRule[] }

type LastSlot = LastEvaluation & {
  id: string
  project_id: string
  version: number
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
