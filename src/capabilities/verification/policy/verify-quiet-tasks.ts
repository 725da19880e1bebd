import { BoundedCache } from '../../../kernel/bounded-cache.ts'
import { nanoDollarsFrom } from '../../../kernel/dollars.ts'
import { durationMs } from '../../../kernel/duration.ts'
import { matchesGlob } from '../../../kernel/glob.ts'
import { Problem } from '../../../kernel/problem.ts'
import type { Logger } from '../../../platform/telemetry/index.ts'
import { runInProject } from '../../../platform/tenancy/index.ts'
import type { Chore, ChoreRun } from '../../jobs/index.ts'
import type { Verifier, VerifierName } from '../contract.ts'
import { runLimits } from '../runs/limits.ts'
import { startRun } from '../runs/store.ts'
import { findAnswer, findTrace, type TraceStores } from '../runs/trace-target.ts'
import { chooseVerifiers, type RequestedVerifier } from '../verifiers/choose-verifiers.ts'
import { type PolicyRules, readRules, type StoredPolicy } from './rules.ts'
import {
  findVerifiedAnswer,
  type QuietTask,
  readPolicySpend,
  selectActivePolicies,
  selectQuietTasks,
  withPolicyLock,
} from './store.ts'

/** Ports of automatic verification. */
export type PolicyDeps = TraceStores & {
  verifiers: ReadonlyMap<VerifierName, Verifier>
  logger: Logger
}

/** Limits of automatic verification. */
export type PolicySettings = {
  /** Interval between searches for quiet tasks. */
  every_ms: number
  /** Time after which a task without activity is quiet. */
  idle_ms: number
  /** Time after the end of a task in which its last calls are stored. */
  ended_ms: number
  /** Window of activity that a pass reads, in addition to the time since the previous pass. */
  recent_ms: number
  /**
   * Interval at which all activity of `window_ms` is read again, for calls that were stored late.
   */
  sweep_ms: number
  /** Age of the last activity above which a task is no longer verified. */
  window_ms: number
  /** Maximum runs that a pass starts in a project. */
  starts_max: number
  /** Maximum tasks whose answer a pass searches in a project, before the next project. */
  looks_max: number
}

const defaultPolicySettings: PolicySettings = {
  every_ms: 2_000,
  idle_ms: 20_000,
  ended_ms: 2_000,
  recent_ms: 90_000,
  sweep_ms: 600_000,
  window_ms: 24 * 3_600_000,
  starts_max: 50,
  looks_max: 100,
}

const page_tasks = 200
const maxCheckedTasks = 50_000
const day_ms = 24 * 3_600_000

/** Returns the chore that verifies the last answers of quiet tasks, as policies say. */
export function verifyQuietTasksChore(
  deps: PolicyDeps,
  settings: Partial<PolicySettings> = {},
): Chore {
  const pass = new PolicyPass(deps, { ...defaultPolicySettings, ...settings })
  const every_ms = settings.every_ms ?? defaultPolicySettings.every_ms
  const reason = 'policies of all projects'
  return {
    name: 'verification policy',
    every_ms,
    reason,
    // Activity makes tasks due for detection.
    wake: 'detection',
    run: (signal) => pass.run(signal),
  }
}

/** A pass over all policies: it reads activity from `from_ms`. */
type Pass = { from_ms: number; now_ms: number; signal: AbortSignal }

class PolicyPass {
  readonly #deps: PolicyDeps
  readonly #settings: PolicySettings
  /** Versions of quiet tasks that need no further run, by project and task. */
  readonly #checked = new BoundedCache<string, string>(maxCheckedTasks)
  #read_to_ms = 0
  #swept_at_ms = Number.NEGATIVE_INFINITY

  constructor(deps: PolicyDeps, settings: PolicySettings) {
    this.#deps = deps
    this.#settings = settings
  }

  /**
   * Starts a run for each quiet task of the policies. One project does not stop the others. With
   * recent activity, tasks become quiet later.
   */
  async run(signal: AbortSignal): Promise<ChoreRun> {
    const { db, clock, logger } = this.#deps
    const { recent_ms, sweep_ms, window_ms, idle_ms } = this.#settings
    const now_ms = clock.now_ms()
    const isSweep = now_ms - this.#swept_at_ms >= sweep_ms
    const recent = Math.min(this.#read_to_ms, now_ms) - recent_ms - idle_ms
    const from_ms = isSweep ? now_ms - window_ms : Math.max(recent, now_ms - window_ms)
    let isWhole = true
    const policies = await selectActivePolicies(db, new Date(from_ms))
    for (const policy of policies) {
      if (signal.aborted) return 'again'
      const { project_id } = policy
      const verify = () => this.#verifyProject(policy, { from_ms, now_ms, signal })
      const done = await runInProject(project_id, () =>
        withPolicyLock(db, project_id, verify),
      ).catch((error: unknown) => {
        logger.warn({ err: error, project_id }, 'automatic verification failed; retrying later')
        return false
      })
      isWhole &&= done === true
    }
    // The next pass reads tasks again that another worker or a failure skipped.
    if (!isWhole) return 'again'
    this.#read_to_ms = now_ms
    if (isSweep) this.#swept_at_ms = now_ms
    return policies.length > 0 ? 'again' : undefined
  }

  /** Returns whether all quiet tasks were read. */
  async #verifyProject(stored: StoredPolicy, pass: Pass): Promise<boolean> {
    const { project_id } = stored
    const rules = readRules(stored)
    const verifiers = chooseVerifiers(this.#deps.verifiers, rules.verifiers)
    const { starts_max, looks_max } = this.#settings
    let started = 0
    let looks = 0
    for await (const task of this.#dueTasks(stored, rules, pass)) {
      if (pass.signal.aborted || started >= starts_max || looks >= looks_max) return false
      looks += 1
      if (!(await this.#isWithinBudget(project_id, rules, { verifiers, ...pass }))) return true
      const outcome = await this.#verifyTask(project_id, task, verifiers)
      if (outcome === 'full') return false
      if (outcome === 'started') started += 1
    }
    return true
  }

  async *#dueTasks(
    { project_id, updated_at }: StoredPolicy,
    rules: PolicyRules,
    { from_ms, now_ms }: Pass,
  ): AsyncGenerator<QuietTask> {
    const { idle_ms, ended_ms } = this.#settings
    // A task that was active less than `idle_ms` before the policy was set became quiet after it.
    const since_ms = Math.max(from_ms, Date.parse(updated_at) - idle_ms)
    const interval_ms = rules.min_interval === null ? 0 : durationMs(rules.min_interval)
    let after: QuietTask | undefined
    do {
      const tasks = await selectQuietTasks(this.#deps.db, {
        project_id,
        after,
        idle_ms,
        ended_ms,
        interval_ms,
        limit: page_tasks,
        sample_percent: rules.sample_percent,
        from: new Date(since_ms),
        now: new Date(now_ms),
      })
      yield* tasks.filter((task) => this.#isDue(project_id, task, rules))
      after = tasks.length < page_tasks ? undefined : tasks.at(-1)
    } while (after !== undefined)
  }

  #isDue(project_id: string, { task_id, name, updated_at }: QuietTask, rules: PolicyRules) {
    if (this.#checked.get(`${project_id} ${task_id}`) === updated_at) return false
    return rules.task_names?.some((glob) => matchesGlob(name, glob)) ?? true
  }

  /** Reserves the maximum cost of each pending run, so that a day never costs more. */
  async #isWithinBudget(
    project_id: string,
    { budget_usd_per_day }: PolicyRules,
    { verifiers, now_ms }: { verifiers: readonly RequestedVerifier[]; now_ms: number },
  ): Promise<boolean> {
    const cost_max = verifiers.reduce((sum, { name, options }) => {
      const verifier = this.#deps.verifiers.get(name)
      const isUsed = verifier !== undefined && verifier.unavailable() === undefined
      return sum + (isUsed ? verifier.estimate(claimsOf(verifier), options).nano_dollars : 0n)
    }, 0n)
    if (budget_usd_per_day === null || cost_max === 0n) return true
    const day = new Date(now_ms - (now_ms % day_ms))
    const { nano_dollars, pending } = await readPolicySpend(this.#deps.db, project_id, day)
    const reserved = cost_max * BigInt(pending + 1)
    return nano_dollars + reserved <= nanoDollarsFrom(budget_usd_per_day)
  }

  async #verifyTask(
    project_id: string,
    task: QuietTask,
    verifiers: readonly RequestedVerifier[],
  ): Promise<'started' | 'nothing' | 'full'> {
    const { db } = this.#deps
    const answer = await findAnswer(this.#deps, { ...task, project_id })
    const isNew =
      answer !== undefined &&
      (await findVerifiedAnswer(db, { project_id, trace_id: answer.trace_id })) !==
        answer.observation_id
    try {
      if (isNew) {
        const trace = await findTrace(this.#deps, { project_id, trace_id: answer.trace_id })
        await startRun(this.#deps, {
          ...trace,
          task_id: task.task_id,
          verifiers,
          trigger: 'policy',
          requested_by: 'policy',
        })
      }
    } catch (error) {
      if (error instanceof Problem && error.code === 'verification_queue_full') return 'full'
      throw error
    }
    this.#checked.set(`${project_id} ${task.task_id}`, task.updated_at)
    return isNew ? 'started' : 'nothing'
  }
}

/** Returns the maximum claims that a verifier checks in a run. */
function claimsOf({ cost }: Verifier): number {
  return cost === 'model' ? runLimits.model_claims : runLimits.claims
}
