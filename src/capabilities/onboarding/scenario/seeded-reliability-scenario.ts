import { z } from 'zod'
import { isUuid } from '../../../kernel/ids.ts'
import { poll } from '../../../kernel/poll.ts'
import { problem } from '../../../kernel/problem.ts'
import { flagParameter } from '../../../model/list-query.ts'
import { record } from '../../../model/named-schemas.ts'
import {
  Answer,
  type Caller,
  defineRoute,
  type Route,
  requesterOf,
} from '../../../platform/http/index.ts'
import { readScope, writeScope } from '../contract.ts'
import type { ScenarioDeps } from './contract.ts'
import { removeScenarios } from './remove-scenarios.ts'
import { runScenario } from './run-scenario.ts'
import { scenarioSchema, toScenarioReply } from './scenario-reply.ts'
import {
  countStarted,
  deleteScenario,
  endLostScenarios,
  findScenario,
  insertScenario,
  latestScenario,
  type StoredScenario,
} from './store.ts'

const url = '/api/v1/onboarding/seeded-reliability-scenario'

const startBody = record('StartScenarioRequest', {
  force_rerun: z
    .boolean()
    .default(false)
    .describe('Plays again, even if the last run found everything as expected.'),
}).optional()

const waitQuery = z.strictObject({
  wait: flagParameter('`true`: wait until the run has ended, at most 30 s.'),
})

const wait_ms_max = 30_000
const maxStartedPerHour = 10
const hour_ms = 3_600_000

/**
 * POST …/seeded-reliability-scenario: plays scripted agents through the proxy and compares the
 * findings with the expected ones. Returns the run in progress, or the last run if it was as
 * expected and its data still exist. The status is 202 while the run is in progress.
 */
export function postSeededScenario(deps: ScenarioDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v1/onboarding/seeded-reliability-scenario',
    id: 'startSeededScenario',
    summary: 'Play agents that fail, and compare what is found with what is expected',
    status: 202,
    auth: 'jwt_or_key',
    scope: writeScope,
    query: waitQuery,
    body: startBody,
    reply: scenarioSchema,
    also: { status: 200, description: 'The run has ended.', reply: scenarioSchema },
    errors: ['rate_limited', 'overloaded', 'shutting_down', 'store_unavailable'],
    handle: async ({ query: { wait = false }, body, caller, signal }) => {
      const started = await startScenario(deps, caller, body?.force_rerun ?? false)
      const scenario = wait ? await waitForEnd(deps, started, signal) : started
      const status = scenario.state === 'ended' ? 200 : 202
      return new Answer(toScenarioReply(scenario), { status })
    },
  })
}

/** GET …/seeded-reliability-scenario: the last run. */
export function getLastScenario(deps: ScenarioDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/onboarding/seeded-reliability-scenario',
    id: 'getLastSeededScenario',
    summary: 'Last run of the seeded reliability scenario',
    auth: 'jwt_or_key',
    scope: readScope,
    reply: scenarioSchema,
    errors: ['scenario_not_found', 'store_unavailable'],
    handle: async ({ caller: { project_id } }) => {
      await endLostScenarios(deps.db, project_id, deps.clock.now_ms())
      const scenario = await latestScenario(deps.db, project_id)
      if (scenario !== undefined) return toScenarioReply(scenario)
      throw problem('scenario_not_found', {
        detail: `The project has no run of the scenario. Start one with POST ${url}.`,
      })
    },
  })
}

/** GET …/seeded-reliability-scenario/{scenario_id}: a run. */
export function getScenario(deps: ScenarioDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/onboarding/seeded-reliability-scenario/{scenario_id}',
    id: 'getSeededScenario',
    summary: 'A run of the seeded reliability scenario',
    auth: 'jwt_or_key',
    scope: readScope,
    params: z.strictObject({ scenario_id: z.string().describe('Id of the run.') }),
    reply: scenarioSchema,
    errors: ['scenario_not_found', 'store_unavailable'],
    handle: async ({ params: { scenario_id: id }, caller: { project_id } }) => {
      await endLostScenarios(deps.db, project_id, deps.clock.now_ms())
      const scenario = isUuid(id) ? await findScenario(deps.db, { project_id, id }) : undefined
      if (scenario !== undefined) return toScenarioReply(scenario)
      throw problem('scenario_not_found', {
        detail: `scenario_id: got "${id.slice(0, 80)}", expected the id of a run of this project`,
      })
    },
  })
}

const removalReply = record('ScenarioRemoval', {
  scenario_ids: z.array(z.uuid()).describe('Runs whose data are removed.'),
  erasure_ids: z
    .array(z.uuid())
    .describe('Erasures that remove tasks, traces, findings and verifications of the runs.'),
})

/**
 * DELETE …/seeded-reliability-scenario: removes the data of all runs, and nothing else: rules and
 * incidents at once, the rest by erasures. Without such data the lists are empty.
 */
export function deleteScenarios(deps: ScenarioDeps): Route {
  return defineRoute({
    method: 'DELETE',
    url: '/api/v1/onboarding/seeded-reliability-scenario',
    id: 'removeSeededScenario',
    summary: 'Remove the data of the seeded reliability scenario',
    status: 202,
    auth: 'jwt_or_key',
    scope: writeScope,
    reply: removalReply,
    errors: ['job_running', 'held', 'store_unavailable'],
    handle: async ({ caller }) => {
      const { project_id } = caller
      await endLostScenarios(deps.db, project_id, deps.clock.now_ms())
      const latest = await latestScenario(deps.db, project_id)
      if (latest?.state === 'running') {
        throw problem('job_running', {
          detail: `Run ${latest.id} of the scenario is in progress. Wait until it has ended.`,
        })
      }
      return removeScenarios(deps, { project_id, requested_by: requesterOf(caller) })
    },
  })
}

async function startScenario(
  deps: ScenarioDeps,
  caller: Caller,
  force_rerun: boolean,
): Promise<StoredScenario> {
  const { db, clock, runs, slots } = deps
  const { project_id } = caller
  const now_ms = clock.now_ms()
  if (runs.signal.aborted) throw problem('shutting_down', { retry_after_s: 1 })
  await endLostScenarios(db, project_id, now_ms)
  const latest = await latestScenario(db, project_id)
  if (latest !== undefined && isKept(latest, force_rerun)) return latest
  await assertRate(deps, project_id)
  const requested_by = requesterOf(caller)
  const scenario = await insertScenario(db, { project_id, requested_by, now: new Date(now_ms) })
  // A concurrent request was faster: the reply is its run.
  if (scenario === undefined) return (await latestScenario(db, project_id)) ?? raced()
  if (!slots.tryAcquire()) {
    await deleteScenario(db, scenario)
    throw problem('overloaded', {
      detail: 'This process plays its maximum of scenarios. Retry in a few seconds.',
      retry_after_s: 10,
    })
  }
  runs.add(runScenario(deps, scenario, caller).finally(() => slots.release()))
  return scenario
}

function isKept({ state, outcome, removed_at }: StoredScenario, force_rerun: boolean): boolean {
  if (state === 'running') return true
  return outcome === 'as_expected' && removed_at === null && !force_rerun
}

function raced(): never {
  throw problem('overloaded', {
    detail: 'Another run started and was deleted right now; try again.',
    retry_after_s: 1,
  })
}

async function assertRate({ db, clock }: ScenarioDeps, project_id: string): Promise<void> {
  const since = new Date(clock.now_ms() - hour_ms)
  if ((await countStarted(db, project_id, since)) < maxStartedPerHour) return
  throw problem('rate_limited', {
    detail: `The project started ${maxStartedPerHour} runs of the scenario within an hour, the maximum. Retry later.`,
    retry_after_s: 600,
  })
}

async function waitForEnd(
  { db }: ScenarioDeps,
  started: StoredScenario,
  signal: AbortSignal,
): Promise<StoredScenario> {
  const { project_id, id } = started
  const ended = await poll(
    () => findScenario(db, { project_id, id }),
    (found) => found?.state !== 'running',
    { wait_ms_max, signal },
  )
  return ended ?? started
}
