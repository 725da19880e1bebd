import { newId } from '../../../kernel/ids.ts'
import { sleep } from '../../../kernel/time.ts'
import { severities } from '../../../model/severity.ts'
import { sql } from '../../../platform/relational/index.ts'
import type { Logger, Metrics } from '../../../platform/telemetry/index.ts'
import { runInInstallation, runInProject } from '../../../platform/tenancy/index.ts'
import type { IncidentDb, Signals } from '../ports.ts'
import type { Saved } from '../store/incident-book.ts'
import { applyDueTimers, applyMutes } from './apply-timers.ts'
import { type DueProject, findDueProjects, scheduleProjects } from './due-projects.ts'
import { type EvaluatorPorts, SlotEvaluator } from './evaluate-due.ts'
import {
  defaultEvaluatorSettings,
  type EvaluatorSettings,
  evaluatorMeters,
} from './evaluator-settings.ts'
import { claimProjects, databaseTime, releaseProjects } from './leases.ts'
import { type LedgerSince, tickEvents, tickLedger } from './tick-events.ts'

/** Ports and settings of the evaluator of a process. */
export type EvaluatorOptions = {
  db: IncidentDb
  signals: Signals
  ledger: LedgerSince
  logger: Logger
  metrics: Metrics
  settings?: Partial<EvaluatorSettings>
  /** Time in ms since 1970; the time of the database if left out. */
  now?: () => Promise<number>
  /** Called after messages were stored, so that they are sent at once. */
  wakeSender?: () => void
}

/** The single steps of an evaluator. `startEvaluator` repeats them. */
export class Evaluator {
  readonly #ports: EvaluatorPorts
  readonly #slots: SlotEvaluator
  readonly #stopping = new AbortController()
  readonly #ledger: LedgerSince
  /** Number of leases; undefined before the first claim. */
  #held: number | undefined
  #claims = 0

  constructor({ settings, now, wakeSender, ledger, ...options }: EvaluatorOptions) {
    this.#ledger = ledger
    this.#ports = {
      ...options,
      meters: evaluatorMeters(options.metrics),
      settings: { ...defaultEvaluatorSettings, ...settings },
      holder: newId(),
      now: now ?? (() => databaseTime(options.db)),
      wakeSender: wakeSender ?? (() => undefined),
    }
    this.#slots = new SlotEvaluator(this.#ports)
    watchIncidents(options.db, options.metrics)
  }

  get settings(): EvaluatorSettings {
    return this.#ports.settings
  }

  get signal(): AbortSignal {
    return this.#stopping.signal
  }

  /** Renews leases, takes the share of this worker and gives back its surplus. */
  async claim(): Promise<void> {
    const { db, holder, settings } = this.#ports
    const { lease_ms } = settings
    const held = this.#claims % claimsPerCount === 0 ? undefined : this.#held
    this.#held = await claimProjects(db, { holder, lease_ms, held })
    this.#claims += 1
  }

  /** Starts the evaluation of the due rules of the claimed projects. */
  async evaluate(): Promise<void> {
    await this.#slots.start(this.signal)
  }

  /** Resolves when no project is being evaluated. */
  async settled(): Promise<void> {
    await this.#slots.settled()
  }

  /**
   * Ends and forgets groups of event rules, and evaluates ledger rules, of the claimed projects that
   * are due.
   */
  async tickEvents(): Promise<void> {
    const { db, now, settings, holder } = this.#ports
    const limit = settings.due_projects_max
    const search = { holder, kind: 'events_due_at', now_ms: await now(), but: [], limit } as const
    for (const project of await findDueProjects(db, search)) {
      if (this.signal.aborted) return
      await runInProject(project.project_id, () => this.#tickProject(project))
    }
  }

  async #tickProject(project: DueProject): Promise<void> {
    const { db, now, settings, signals, logger } = this.#ports
    const { forget_after_ms, events_ms } = settings
    const ledger = this.#ledger
    const lag: Signals['lag'] = (...asked) => signals.lag(...asked)
    const { project_id } = project
    const ports = { db, ledger, forget_after_ms, now_ms: await now(), lag }
    let isPending = false
    for (const tick of [tickEvents, tickLedger]) {
      const ticked = await tick(ports, project_id).catch((error: unknown) => {
        logger.warn({ err: error, project_id }, 'evaluating event rules failed')
        return { opened: 0, messages: 0, is_pending: true }
      })
      this.#wake(ticked)
      isPending ||= ticked.is_pending
    }
    const due_ms = isPending ? ports.now_ms + events_ms : Number.POSITIVE_INFINITY
    await scheduleProjects(db, 'events_due_at', [{ ...project, due_ms }])
  }

  /** Applies the timers that are due. */
  async applyTimers(): Promise<void> {
    const { db, now, settings } = this.#ports
    this.#wake(await applyDueTimers(db, { now_ms: await now(), limit: settings.timers_max }))
  }

  /** Applies suppressions and inhibitions that began or ended. */
  async applyMutes(): Promise<void> {
    const { db, now, holder } = this.#ports
    this.#wake(await applyMutes(db, { holder, now_ms: await now() }))
  }

  /** Deletes samples that are older than the series of an incident needs. */
  async prune(): Promise<void> {
    const { db, now, settings } = this.#ports
    const before = new Date((await now()) - settings.samples_ms)
    for (;;) {
      const { rows } = await sql`
        delete from rule_samples where ctid = any(array(
          select ctid from rule_samples where slot < ${before} limit ${pruned_max}
        )) returning 1
      `.execute(db)
      if (rows.length < pruned_max || this.signal.aborted) return
    }
  }

  /** Ends running evaluations and returns the projects. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.settled()
    const release = () => releaseProjects(this.#ports.db, this.#ports)
    await runInInstallation(reasonOfSteps, release).catch(() => undefined)
  }

  /** Repeats a step until the evaluator stops. A failure is logged, and the step is repeated. */
  async repeat(name: string, every_ms: number, step: () => Promise<void>): Promise<void> {
    const { logger } = this.#ports
    while (!this.signal.aborted) {
      await runInInstallation(reasonOfSteps, step).catch((error: unknown) => {
        if (!this.signal.aborted) logger.warn({ err: error, step: name }, 'a step failed')
      })
      await sleep(every_ms, this.signal)
    }
  }

  #wake({ messages }: Saved): void {
    if (messages > 0) this.#ports.wakeSender()
  }
}

const pruned_max = 10_000

/** Claims after which leases are counted, because a deleted project ends one. */
const claimsPerCount = 12

/** Leases, due rules, timers and old samples are found by one statement for all projects. */
const reasonOfSteps = 'leases, due rules, timers and old samples of all projects'

/** The running evaluator of a process. */
export type RunningEvaluator = { stop(): Promise<void> }

/** Starts the evaluator of incident rules, until it is stopped. Several processes may run one. */
export function startEvaluator(options: EvaluatorOptions): RunningEvaluator {
  const evaluator = new Evaluator(options)
  const { claim_ms, poll_ms, events_ms, muting_ms, prune_ms } = evaluator.settings
  const loops = [
    evaluator.repeat('claim projects', claim_ms, () => evaluator.claim()),
    evaluator.repeat('evaluate rules', poll_ms, () => evaluator.evaluate()),
    evaluator.repeat('evaluate events', events_ms, () => evaluator.tickEvents()),
    evaluator.repeat('apply timers', poll_ms, () => evaluator.applyTimers()),
    evaluator.repeat('apply mutes', muting_ms, () => evaluator.applyMutes()),
    evaluator.repeat('delete samples', prune_ms, () => evaluator.prune()),
  ]
  return {
    stop: async () => {
      const stopped = evaluator.stop()
      await Promise.all([...loops, stopped])
    },
  }
}

/** Registers gauges of stored incidents and evaluations; call once per process. */
function watchIncidents(db: IncidentDb, metrics: Metrics): void {
  metrics.gauge({
    name: 'looptrace_incidents_firing',
    help: 'Unresolved incidents of all projects by severity, without shadow rules, over all processes.',
    labels: ['severity'],
    collect: async (gauge) => {
      const counts = await countFiring(db)
      for (const severity of severities) gauge.set({ severity }, counts.get(severity) ?? 0)
    },
  })
  metrics.gauge({
    name: 'looptrace_incident_slot_lag_seconds',
    help: 'Age of the oldest last slot of the rules that are evaluated, over all processes.',
    collect: async (gauge) => gauge.set(await oldestSlot(db)),
  })
}

async function countFiring(db: IncidentDb): Promise<Map<string, number>> {
  const { rows } = await sql<{ severity: string; incidents: number }>`
    select severity, count(*)::int as incidents from incidents
    where state <> 'resolved' and not shadow group by severity
  `.execute(db)
  return new Map(rows.map(({ severity, incidents }) => [severity, incidents]))
}

async function oldestSlot(db: IncidentDb): Promise<number> {
  const { rows } = await sql<{ lag_s: number }>`
    select coalesce(greatest(0, extract(epoch from now() - min(last_slot))), 0)::float8 as lag_s
    from rule_evaluations join incident_rules on id = rule_id
    where not suspended and kind <> 'event'
  `.execute(db)
  return rows[0]?.lag_s ?? 0
}
