import { newId } from '../../../kernel/ids.ts'
import { sleep } from '../../../kernel/time.ts'
import { severities } from '../../../model/severity.ts'
import { pollingWakes, sql, type Waker, type Wakes } from '../../../platform/relational/index.ts'
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
  /** Announcements of changed rules, incidents and suppressions. Without them, it polls. */
  wakes?: Wakes
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

  /** Wakes the loops that look for due rules and for due events. */
  readonly #rules: Waker
  readonly #events: Waker
  readonly #timers: Waker
  readonly #mutes: Waker

  constructor({ settings, now, wakeSender, ledger, wakes, ...options }: EvaluatorOptions) {
    this.#ledger = ledger
    const { waker } = wakes ?? pollingWakes()
    ;[this.#rules, this.#events] = [waker('rules'), waker('rules')]
    ;[this.#timers, this.#mutes] = [waker('incidents'), waker('mutes')]
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
    const before = this.#held
    this.#held = await claimProjects(db, { holder, lease_ms, held })
    this.#claims += 1
    if (this.#held <= (before ?? 0)) return
    this.#rules.ring()
    this.#events.ring()
  }

  /** Starts the evaluation of the due rules of the claimed projects. Returns the ms until the next. */
  async evaluate(): Promise<number> {
    return this.#slots.start(this.signal)
  }

  /** Resolves when no project is being evaluated. */
  async settled(): Promise<void> {
    await this.#slots.settled()
  }

  /**
   * Ends and forgets groups of event rules, and evaluates ledger rules, of the claimed projects that
   * are due. Returns the ms until the next one is.
   */
  async tickEvents(): Promise<number> {
    const { db, now, settings, holder } = this.#ports
    const limit = settings.due_projects_max
    const now_ms = await now()
    const search = { holder, kind: 'events_due_at', now_ms, but: [], limit } as const
    const { projects, next_ms } = await findDueProjects(db, search)
    for (const project of projects) {
      if (this.signal.aborted) break
      await runInProject(project.project_id, () => this.#tickProject(project))
    }
    return projects.length > 0 ? settings.events_ms : next_ms - now_ms
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

  /**
   * Applies suppressions and inhibitions that began or ended. Returns the ms until the next look,
   * because time mutes and unmutes unresolved incidents.
   */
  async applyMutes(): Promise<number> {
    const { db, now, holder, settings } = this.#ports
    const { projects, ...saved } = await applyMutes(db, { holder, now_ms: await now() })
    this.#wake(saved)
    return projects > 0 ? settings.muting_ms : Number.POSITIVE_INFINITY
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

  /**
   * Repeats a step until the evaluator stops, after `every_ms`, or when its waker rings; not later
   * than the ms that the step returns. A failure is logged, and the step is repeated.
   */
  async #repeat(
    name: string,
    { every_ms, waker }: { every_ms: number; waker?: Waker },
    step: () => Promise<void> | Promise<number>,
  ): Promise<void> {
    const { logger } = this.#ports
    while (!this.signal.aborted) {
      const until_ms = await runInInstallation(reasonOfSteps, async () => {
        const ms = await step()
        return typeof ms === 'number' ? ms : undefined
      }).catch((error: unknown) => {
        if (!this.signal.aborted) logger.warn({ err: error, step: name }, 'a step failed')
        return every_ms
      })
      if (waker === undefined) await sleep(every_ms, this.signal)
      else await waker.wait(every_ms, this.signal, until_ms)
    }
  }

  /** Repeats all steps until the evaluator stops. */
  async run(): Promise<void> {
    const { claim_ms, poll_ms, events_ms, muting_ms, prune_ms } = this.settings
    const [rules, events] = [this.#rules, this.#events]
    await Promise.all([
      this.#repeat('claim projects', { every_ms: claim_ms }, () => this.claim()),
      this.#repeat('evaluate rules', { every_ms: poll_ms, waker: rules }, () => this.evaluate()),
      this.#repeat('evaluate events', { every_ms: events_ms, waker: events }, () =>
        this.tickEvents(),
      ),
      this.#repeat('apply timers', { every_ms: poll_ms, waker: this.#timers }, () =>
        this.applyTimers(),
      ),
      this.#repeat('apply mutes', { every_ms: muting_ms, waker: this.#mutes }, () =>
        this.applyMutes(),
      ),
      this.#repeat('delete samples', { every_ms: prune_ms }, () => this.prune()),
    ])
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
  const running = evaluator.run()
  return {
    stop: async () => {
      await Promise.all([evaluator.stop(), running])
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
  const { rows } = await oldestSlotStatement.execute(db)
  return rows[0]?.lag_s ?? 0
}

/**
 * Reads the age of the oldest slot by an index. The slot of a suspended rule is null, so the first entry
 * is almost always the result.
 */
export const oldestSlotStatement = sql<{ lag_s: number }>`
  select greatest(0, extract(epoch from now() - last_slot))::float8 as lag_s
  from rule_evaluations join incident_rules on id = rule_id
  where not suspended and kind <> 'event' and last_slot is not null
  order by last_slot limit 1`
