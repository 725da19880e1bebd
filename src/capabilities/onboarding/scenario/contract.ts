import type { Semaphore } from '../../../kernel/semaphore.ts'
import type { Caller } from '../../../platform/http/index.ts'
import type { Logger } from '../../../platform/telemetry/index.ts'
import type { IncidentRoutesDeps } from '../../incidents/index.ts'
import type { RetentionDeps } from '../../lifecycle/retention/index.ts'
import type { VerificationRoutesDeps } from '../../verification/index.ts'
import type { OnboardingDeps } from '../contract.ts'
import type { AgentName } from './agents.ts'

/**
 * Plays the agents of a run through a proxy, which records their calls for the project. Resolves
 * when all calls are in the queue.
 */
export type PlayScenario = (run: {
  project_id: string
  run_id: string
  signal: AbortSignal
}) => Promise<PlayedAgent[]>

/** Dependencies of the scenario. */
export type ScenarioDeps = OnboardingDeps & {
  logger: Logger
  play: PlayScenario
  rules: Pick<IncidentRoutesDeps, 'db' | 'clock' | 'incident_rules_max'>
  verification: VerificationRoutesDeps
  retention: Pick<RetentionDeps, 'db' | 'clock'>
  /** Runs that this process plays at a time. */
  slots: Semaphore
  /** The runs of this process; `runs.stop()` ends them. */
  runs: ScenarioRuns
}

/** Who started a run. */
export type Starter = Pick<Caller, 'kind' | 'id'>

/** The runs that a process plays. */
export class ScenarioRuns {
  readonly #stopping = new AbortController()
  readonly #running = new Set<Promise<void>>()

  /** Aborts when the process stops. */
  get signal(): AbortSignal {
    return this.#stopping.signal
  }

  /** Keeps a run, which must not reject, until it ends. */
  add(run: Promise<void>): void {
    const ended: Promise<void> = run.finally(() => this.#running.delete(ended))
    this.#running.add(ended)
  }

  /** Ends the runs; resolves when all have stored their end. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the process stops'))
    await Promise.all(this.#running)
  }
}

/** The identities of a run: its tasks and its only user. */
type ScenarioIds = { user_id: string; taskIdOf: (name: AgentName) => string }

/** An agent that was played. */
export type PlayedAgent = {
  name: AgentName
  task_id: string
  /** Number of model calls. */
  calls: number
  /** Trace of the last answer. */
  trace_id: string
}

/** Returns the identities of a run, which are unique to it. */
export function scenarioIds(run_id: string): ScenarioIds {
  return {
    user_id: `looptrace-onboarding-${run_id}`,
    taskIdOf: (name) => `looptrace-onboarding-${run_id}-${name}`,
  }
}
