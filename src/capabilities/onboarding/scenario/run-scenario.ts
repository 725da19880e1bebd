import { newId } from '../../../kernel/ids.ts'
import { poll } from '../../../kernel/poll.ts'
import { Problem } from '../../../kernel/problem.ts'
import { requesterOf } from '../../../platform/http/index.ts'
import { findingsOf } from '../../detection/index.ts'
import { createRule } from '../../incidents/index.ts'
import { endTask } from '../../tasks/index.ts'
import { startVerification } from '../../verification/index.ts'
import { type AgentName, compareFindings, type FoundFinding, inventedFigure } from './agents.ts'
import type { PlayedAgent, ScenarioDeps, Starter } from './contract.ts'
import { removeScenarios } from './remove-scenarios.ts'
import { buildScenarioRule } from './scenario-rule.ts'
import {
  analysedTasks,
  countCalls,
  endScenario,
  findIncidentOf,
  heartbeat_ms_max,
  noteProgress,
  readVerification,
  type ScenarioOutcome,
  type ScenarioRecord,
  type ScenarioStep,
  type StoredScenario,
} from './store.ts'

/** Longest wait of a step for the stores and the workers. */
const step_ms_max = 60_000

/** A step timed out, or the run was ended from outside. */
class ScenarioFailed extends Error {
  override readonly name = 'ScenarioFailed'
}

/**
 * Plays a stored run to its end. Never rejects. The record lists the created objects step by step,
 * so that they can be removed whenever the run ends.
 */
export async function runScenario(
  deps: ScenarioDeps,
  scenario: StoredScenario,
  starter: Starter,
): Promise<void> {
  const run = new ScenarioRun(deps, scenario, starter)
  const end = async (outcome: ScenarioOutcome, error: string | null) => {
    const now = new Date(deps.clock.now_ms())
    await endScenario(deps.db, scenario, { outcome, error, record: run.record, now })
  }
  try {
    await run.play()
    await end(run.isAsExpected() ? 'as_expected' : 'not_as_expected', run.describeFaults())
  } catch (error) {
    const { id: scenario_id, project_id } = scenario
    const isStopped = deps.runs.signal.aborted
    if (!isStopped && !(error instanceof ScenarioFailed)) {
      deps.logger.warn({ err: error, scenario_id, project_id }, 'the seeded scenario failed')
    }
    const reason = isStopped
      ? 'The process that played the scenario was stopped. Start it again.'
      : `${run.step}: ${describe(error)}`
    await end(isStopped ? 'interrupted' : 'failed', reason).catch((cause: unknown) => {
      deps.logger.warn({ err: cause, scenario_id }, 'the end of a seeded scenario was not stored')
    })
  }
}

function describe(error: unknown): string {
  if (error instanceof ScenarioFailed || error instanceof Problem) return error.message
  return 'The run failed. See the log of the API for the reason.'
}

/** A run in progress. */
class ScenarioRun {
  readonly record: ScenarioRecord = {}
  step: ScenarioStep = 'preparing'
  readonly #deps: ScenarioDeps
  readonly #scenario: StoredScenario
  readonly #starter: Starter

  constructor(deps: ScenarioDeps, scenario: StoredScenario, starter: Starter) {
    this.#deps = deps
    this.#scenario = scenario
    this.#starter = starter
  }

  async play(): Promise<void> {
    const { project_id, id } = this.#scenario
    const beat = setInterval(() => {
      // If the run has ended meanwhile, the next step detects it.
      this.#note().catch(() => undefined)
    }, heartbeat_ms_max / 4)
    try {
      await this.#prepare()
      await this.#enter('playing')
      const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(step_ms_max)])
      const agents = await this.#deps.play({ project_id, run_id: id, signal })
      this.record.agents = agents
      await this.#enter('storing')
      await this.#untilStored(agents)
      await this.#enter('completing')
      await this.#complete(agents)
      await this.#enter('detecting')
      await this.#untilAnalysed(agents)
      await this.#enter('verifying')
      await this.#verify(agents)
      await this.#enter('comparing')
      await this.#compare(agents)
    } finally {
      clearInterval(beat)
    }
  }

  isAsExpected(): boolean {
    return this.describeFaults() === null
  }

  /** Describes the differences from the expected result; null without differences. */
  describeFaults(): string | null {
    const { results = [], verification, incident_id, rule_error } = this.record
    const faults = results.flatMap(({ name, missing, unexpected }) => [
      ...missing.map((type) => `${name}: ${type} was not found`),
      ...unexpected.map((type) => `${name}: ${type} was found and not expected`),
    ])
    if (!isRefuted(verification?.verdict)) {
      const verdict = verification?.verdict ?? 'no verdict'
      faults.push(`the claim with ${inventedFigure} has ${verdict}, expected not_found`)
    }
    if (incident_id == null) faults.push(rule_error ?? 'the shadow rule opened no incident')
    return faults.length === 0 ? null : `${faults.join('; ')}.`
  }

  get #signal(): AbortSignal {
    return this.#deps.runs.signal
  }

  async #enter(step: ScenarioStep): Promise<void> {
    this.#signal.throwIfAborted()
    this.step = step
    if (await this.#note()) return
    throw new ScenarioFailed('Another process ended the run, because its heartbeat stopped.')
  }

  #note(): Promise<boolean> {
    const { step, record } = this
    const now = new Date(this.#deps.clock.now_ms())
    return noteProgress(this.#deps.db, this.#scenario, { step, record, now })
  }

  /** Removes the data of earlier runs, and creates the shadow rule. */
  async #prepare(): Promise<void> {
    const { project_id, id } = this.#scenario
    const requested_by = requesterOf(this.#starter)
    await removeScenarios(this.#deps, { project_id, requested_by, except: id })
    this.record.rule_id = newId()
    await this.#enter('preparing')
    const at = new Date(this.#deps.clock.now_ms()).toISOString()
    const rule = { project_id, id: this.record.rule_id, spec: buildScenarioRule(id) }
    try {
      await createRule(this.#deps.rules, { ...rule, at, by: requested_by })
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'limit_reached') throw error
      this.record.rule_error = error.message
    }
  }

  async #untilStored(agents: readonly PlayedAgent[]): Promise<void> {
    const missing = await this.#poll(async () => {
      const stored = await countCalls(this.#deps.db, this.#scenario.project_id, idsOf(agents))
      return agents.filter(({ task_id, calls }) => (stored.get(task_id) ?? 0) < calls)
    })
    const [first] = missing
    if (first === undefined) return
    throw new ScenarioFailed(
      `the calls of ${missing.length} of ${agents.length} tasks, such as ${first.task_id}, were not stored within ${step_ms_max / 1_000} s. Are workers running, and does the capture policy record all traces?`,
    )
  }

  async #complete(agents: readonly PlayedAgent[]): Promise<void> {
    const { project_id } = this.#scenario
    for (const { task_id } of agents) {
      await endTask(this.#deps.db, project_id, task_id, {
        event_id: newId(),
        state: 'completed',
        actor: this.#starter,
        note: null,
        at: new Date(this.#deps.clock.now_ms()).toISOString(),
      })
    }
  }

  async #untilAnalysed(agents: readonly PlayedAgent[]): Promise<void> {
    const late = await this.#poll(async () => {
      const analysed = await analysedTasks(this.#deps.db, this.#scenario.project_id, idsOf(agents))
      return agents.filter(({ task_id }) => !analysed.includes(task_id))
    })
    if (late.length === 0) return
    throw new ScenarioFailed(
      `${late.length} of ${agents.length} tasks were not analysed within ${step_ms_max / 1_000} s. Are workers running?`,
    )
  }

  /** Verifies the answer with the invented figure, against what the agent saw alone. */
  async #verify(agents: readonly PlayedAgent[]): Promise<void> {
    const trace_id = agents.find(({ name }) => name === 'invented_figure')?.trace_id ?? ''
    const { project_id } = this.#scenario
    const verifiers = [{ name: 'kb', options: { judge: false, documents: false } }]
    const { id: run_id } = await startVerification(this.#deps.verification, {
      trace: { project_id, trace_id },
      body: { verifiers, force_reverify: false, async_mode: true },
      trigger: 'request',
      caller: this.#starter,
      signal: this.#signal,
    })
    const asked = { project_id, run_id, text: inventedFigure }
    let run: Awaited<ReturnType<typeof readVerification>>
    await this.#poll(async () => {
      run = await readVerification(this.#deps.db, asked)
      return run?.state === 'pending' ? [run] : []
    })
    const { trust_score = null, claim = null, verdict = null } = run ?? {}
    this.record.verification = { run_id, trace_id, claim, verdict, trust_score }
    if (run?.state === 'verified') return
    throw new ScenarioFailed(
      `verification ${run_id} is ${run?.state ?? 'gone'} after at most ${step_ms_max / 1_000} s. Are workers running?`,
    )
  }

  async #compare(agents: readonly PlayedAgent[]): Promise<void> {
    const { db } = this.#deps
    const { project_id, id } = this.#scenario
    const found: Partial<Record<AgentName, FoundFinding[]>> = {}
    for (const { name, task_id } of agents) {
      const findings = await findingsOf(db, { project_id, task_id })
      found[name] = findings
        .filter(({ state, type }) => state !== 'withdrawn' && !claimTypes.includes(type))
        .map(({ finding_id, type, severity }) => ({ finding_id, type, severity }))
    }
    this.record.results = compareFindings(found)
    this.record.incident_id =
      (await findIncidentOf(db, project_id, buildScenarioRule(id).name)) ?? null
  }

  /** Polls until the step is done, or its time is over. */
  async #poll<T>(ask: () => Promise<T[]>): Promise<T[]> {
    const signal = this.#signal
    const left = await poll(ask, (waiting) => waiting.length === 0, {
      wait_ms_max: step_ms_max,
      signal,
    })
    signal.throwIfAborted()
    return left
  }
}

/** Types of the findings that the verification of the run itself writes. */
const claimTypes = ['unsupported_claim', 'contradicted_claim']

const idsOf = (agents: readonly PlayedAgent[]) => agents.map(({ task_id }) => task_id)

/** Returns whether a verdict says that the figure has no source. */
export function isRefuted(verdict: string | null | undefined): boolean {
  return verdict === 'not_found' || verdict === 'contradicted'
}
