import { randomBytes, timingSafeEqual } from 'node:crypto'
import {
  createCaptureRecorder,
  createProxy,
  createRecorder,
  defaultProxySettings,
  frameLimits,
  type ProjectKeys,
  proxyRoutes,
} from '../capabilities/edge/proxy/index.ts'
import type { IncidentRoutesDeps } from '../capabilities/incidents/index.ts'
import {
  type OnboardingRoutesDeps,
  type PlayScenario,
  ScenarioRuns,
} from '../capabilities/onboarding/index.ts'
import { newId } from '../kernel/ids.ts'
import { Semaphore } from '../kernel/semaphore.ts'
import { scenarioEnvironment } from '../model/reserved-environment.ts'
import type { RoleConfig } from '../platform/config/index.ts'
import type { Queue } from '../platform/queue/index.ts'
import { createMetrics } from '../platform/telemetry/index.ts'
import type { Intake } from './intake.ts'
import { listen } from './listen.ts'
import type { RoleContext } from './running.ts'
import type { Stores } from './stores.ts'

/** Maximum concurrent runs of the scenario in a process. Each needs a proxy for a few seconds. */
const scenarios_max = 2
/** Maximum concurrent searches over all rows of a project, for the report and the funnel. */
const scans_max = 4

type OnboardingParts = Pick<Stores, 'db' | 'columnar' | 'ledger'> & {
  intake: Intake
  /** Takes the calls of the scenario. */
  publisher: Pick<Queue, 'publish' | 'message_bytes_max'>
  rules: Pick<IncidentRoutesDeps, 'db' | 'clock' | 'incident_rules_max'>
  verification: OnboardingRoutesDeps['verification']
  archives_configured: boolean
}

/** Opens the dependencies of onboarding. Running scenarios end when the role ends. */
export function openOnboarding(
  context: RoleContext,
  config: RoleConfig<'api'>,
  built: OnboardingParts,
): OnboardingRoutesDeps {
  const { clock, logger, parts } = context
  const { db, columnar, ledger, rules, verification, archives_configured } = built
  const runs = new ScenarioRuns()
  parts.defer(() => runs.stop())
  return {
    db,
    clock,
    logger,
    columnar,
    ledger,
    rules,
    verification,
    archives_configured,
    runs,
    retention: { db, clock },
    scans: new Semaphore({ permits_max: scans_max }),
    slots: new Semaphore({ permits_max: scenarios_max }),
    play: (run) => playThroughProxy(context, config, { ...built, run }),
  }
}

/** The only client is the scenario itself. */
const unlimited = { http_rate_per_minute_max: 0, http_anonymous_rate_per_minute_max: 0 }
/** Time-out of a call of the scenario, whose provider answers at once. */
const call_ms_max = 15_000

/**
 * Plays the agents through a temporary proxy in this process: on a free port of the loopback
 * address, with the scripted provider as its only provider, and with a random key that is not
 * stored. So the proxy of the installation needs no scripted provider, and callers cannot reach it.
 * The recorder writes to the queue of the service under the capture policy of the project, as in
 * every proxy.
 */
async function playThroughProxy(
  context: RoleContext,
  config: RoleConfig<'api'>,
  scenario: Pick<OnboardingParts, 'intake' | 'publisher'> & { run: Parameters<PlayScenario>[0] },
): ReturnType<PlayScenario> {
  const { project_id, run_id, signal } = scenario.run
  await using parts = new AsyncDisposableStack()
  const own: RoleContext = { ...context, metrics: createMetrics(), parts, ports: {} }
  const recorder = openScenarioRecorder(own, config, scenario)
  const demo = await import('../capabilities/demo/index.ts')
  const { playAgents, scenarioScript, startScriptedProvider } = demo
  const provider = await startScriptedProvider({ script: scenarioScript, seen_requests_max: 0 })
  parts.defer(() => provider.stop())
  const key = randomBytes(32).toString('hex')
  const { clock, metrics, logger } = own
  const { openai, anthropic, gemini } = provider.base_urls
  const proxy = createProxy({
    clock,
    metrics,
    logger,
    recorder,
    keys: onlyKey(key, { key_id: run_id, project_id }),
    base_urls: { openai, anthropic, gemini },
    settings: defaultProxySettings,
  })
  const local = { ...config, http_host: '127.0.0.1', http_port: 0, ...unlimited }
  const port = await listen(own, local, { routes: proxyRoutes(proxy), proxy })
  const headers = { 'x-api-key': key, authorization: 'Bearer scripted' }
  const target = { url: `http://127.0.0.1:${port}/v1`, headers, fetch: globalThis.fetch }
  const played = await playAgents({ ...target, timeout_ms: call_ms_max, signal }, run_id)
  await recorder.flush()
  return played
}

function openScenarioRecorder(
  { clock, metrics, logger, parts }: RoleContext,
  config: RoleConfig<'api'>,
  { intake, publisher }: Pick<OnboardingParts, 'intake' | 'publisher'>,
) {
  const recorder = createRecorder({
    clock,
    metrics,
    logger,
    newId,
    ...frameLimits,
    publish: (message) => publisher.publish(message),
    get message_bytes_max() {
      return publisher.message_bytes_max
    },
    inflight_bytes_max: config.record_inflight_bytes_max,
    onAccepted: (entries) => intake.reporter.accepted(entries),
    capture: createCaptureRecorder(intake),
  })
  parts.defer(() => recorder.close())
  return recorder
}

/** Accepts one key, which can only send calls, in the environment of the scenario. */
function onlyKey(key: string, about: { key_id: string; project_id: string }): ProjectKeys {
  const known = Buffer.from(key)
  const owner = {
    ...about,
    scopes: new Set(['proxy:write'] as const),
    environment: scenarioEnvironment,
  }
  return {
    authenticate: (given) => {
      const asked = Buffer.from(given)
      const isKnown = asked.length === known.length && timingSafeEqual(asked, known)
      return isKnown ? owner : undefined
    },
  }
}
