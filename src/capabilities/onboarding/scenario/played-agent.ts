import type { AgentName } from './agents.ts'

/** The identities of a run: its tasks and its only user. */
export type ScenarioIds = { user_id: string; taskIdOf: (name: AgentName) => string }

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
