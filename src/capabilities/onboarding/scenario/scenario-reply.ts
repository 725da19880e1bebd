import { z } from 'zod'
import { record } from '../../../model/named-schemas.ts'
import { scenarioEnvironment } from '../../../model/reserved-environment.ts'
import { type AgentName, agentNames, scenarioAgents } from './agents.ts'
import { isRefuted } from './run-scenario.ts'
import { type StoredScenario, scenarioSteps } from './store.ts'

const path = z.string().describe('Path of the API.')

const agentSchema = record('ScenarioAgent', {
  name: z.enum(agentNames).meta({ id: 'ScenarioAgentName' }),
  about: z.string(),
  task_id: z.string().nullable().describe('Task of the agent; null until the agent was played.'),
  trace_id: z.string().nullable().describe('Trace of the last answer of the agent.'),
  calls: z.int().nonnegative().describe('Model calls.'),
  expected: z.array(z.string()).describe('Types of expected findings. Other findings are faults.'),
  found: z
    .array(
      record('ScenarioFinding', {
        finding_id: z.string(),
        type: z.string(),
        severity: z.string(),
      }),
    )
    .describe('Types of findings of the agent, without those of the verification of the run.'),
  missing: z.array(z.string()),
  unexpected: z.array(z.string()),
  as_expected: z
    .boolean()
    .nullable()
    .describe('Whether the findings are as expected; null until they are compared.'),
  links: record('ScenarioAgentLinks', { task: path, findings: path, timeline: path }).nullable(),
})

/** A run of the scenario, as replies show it. */
export const scenarioSchema = record('OnboardingScenario', {
  scenario_id: z.uuid(),
  state: z.enum(['running', 'ended']).meta({ id: 'ScenarioState' }),
  step: z
    .enum(scenarioSteps)
    .meta({ id: 'ScenarioStep' })
    .describe('The step in progress, or the last one.'),
  steps_done: z.int().nonnegative(),
  steps_total: z.int().positive(),
  outcome: z
    .enum(['as_expected', 'not_as_expected', 'failed', 'interrupted'])
    .meta({ id: 'ScenarioOutcome' })
    .nullable()
    .describe(
      'Outcome; null while the run is in progress. `failed`: a step did not end, see `error`.',
    ),
  error: z
    .string()
    .nullable()
    .describe('Reason of a failure, or the differences from the expectations.'),
  environment: z.string().describe('Environment of the calls, reserved for the scenario.'),
  started_at: z.iso.datetime(),
  ended_at: z.iso.datetime().nullable(),
  duration_ms: z.int().nonnegative().nullable(),
  removed_at: z.iso
    .datetime()
    .nullable()
    .describe('Time when the removal of the data was requested. Links do not work afterwards.'),
  requested_by: z.string(),
  agents: z.array(agentSchema),
  incident: record('ScenarioIncident', {
    rule_id: z.uuid().nullable().describe('The rule in mode shadow that the run created.'),
    incident_id: z.uuid().nullable(),
    as_expected: z.boolean().nullable(),
    link: path.nullable(),
  }),
  verification: record('ScenarioVerification', {
    run_id: z.uuid().nullable(),
    trace_id: z.string().nullable(),
    claim: z.string().nullable().describe('The claim with the invented figure.'),
    verdict: z.string().nullable().describe('Expected: `not_found` or `contradicted`.'),
    trust_score: z.number().min(0).max(1).nullable(),
    as_expected: z.boolean().nullable(),
    link: path.nullable(),
  }),
})

/** Shapes a run for a reply. */
export function toScenarioReply(scenario: StoredScenario): z.input<typeof scenarioSchema> {
  const { id: scenario_id, state, step, outcome, error, started_at, ended_at } = scenario
  const isCompared = scenario.record.results !== undefined
  const { removed_at, requested_by } = scenario
  const place = scenarioSteps.indexOf(step)
  const isComplete = outcome === 'as_expected' || outcome === 'not_as_expected'
  return {
    scenario_id,
    state,
    step,
    outcome,
    error,
    started_at,
    ended_at,
    removed_at,
    requested_by,
    steps_done: isComplete ? scenarioSteps.length : place,
    steps_total: scenarioSteps.length,
    environment: scenarioEnvironment,
    duration_ms: ended_at === null ? null : Date.parse(ended_at) - Date.parse(started_at),
    agents: agentNames.map((name) => toAgent(scenario, name)),
    incident: toIncident(scenario, isCompared),
    verification: toVerification(scenario),
  }
}

function toAgent({ record: { agents, results } }: StoredScenario, name: AgentName) {
  const { about = '', expected = [] } = scenarioAgents.find((agent) => agent.name === name) ?? {}
  const played = agents?.find((agent) => agent.name === name)
  const result = results?.find((one) => one.name === name)
  const { task_id = null, trace_id = null, calls = 0 } = played ?? {}
  const task = task_id === null ? null : `/api/v1/tasks/${task_id}`
  return {
    name,
    about,
    task_id,
    trace_id,
    calls,
    expected: [...expected],
    found: result?.found ?? [],
    missing: result?.missing ?? [],
    unexpected: result?.unexpected ?? [],
    as_expected: result?.as_expected ?? null,
    links:
      task === null ? null : { task, findings: `${task}/findings`, timeline: `${task}/timeline` },
  }
}

function toIncident({ record }: StoredScenario, isCompared: boolean) {
  const [rule_id, incident_id] = [record.rule_id ?? null, record.incident_id ?? null]
  return {
    rule_id,
    incident_id,
    as_expected: isCompared ? incident_id !== null : null,
    link: incident_id === null ? null : `/api/v2/observability/incidents/${incident_id}`,
  }
}

function toVerification({ record: { verification } }: StoredScenario) {
  const { run_id = null, trace_id = null, claim = null, verdict = null } = verification ?? {}
  return {
    run_id,
    trace_id,
    claim,
    verdict,
    trust_score: verification?.trust_score ?? null,
    as_expected: verification === undefined ? null : isRefuted(verdict),
    link: trace_id === null ? null : `/api/v1/verification/traces/${trace_id}/claims`,
  }
}
