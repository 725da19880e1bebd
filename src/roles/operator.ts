import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { z } from 'zod'
import { parsedJson } from '../kernel/json-values.ts'
import { sleep } from '../kernel/time.ts'
import { labelPattern } from '../model/managed-by.ts'
import {
  apiAnswerCounter,
  createServiceClient,
  defaultOperatorSettings,
  findSelectorFault,
  type InstallationResource,
  incidentRuleSpec,
  kinds,
  labelSelector,
  leaseTimes,
  type OperatorSettings,
  projectGrantSpec,
  startOperator,
} from '../operator/index.ts'
import { ConfigError, type RoleConfig } from '../platform/config/index.ts'
import { openKube } from '../platform/kube/index.ts'
import { type Running, run } from './running.ts'

/** Time limit of a request, to the API server and to the service. Both answer in milliseconds. */
const request_timeout_ms = 10_000

/** Concurrent requests to the service, over all kinds: twice the reconciles of a kind. */
const maxServiceRequests = 16

/** Starts role `operator`: watches custom resources and configures the service accordingly. */
export async function startOperatorRole(
  config: RoleConfig<'operator'>,
  stop: AbortSignal,
): Promise<Running> {
  const key = keyReader(config)
  const settings = toOperatorSettings(config)
  return run('operator', config, stop, async ({ logger, metrics, clock, parts, checks, fail }) => {
    const kube = openKube({
      request_timeout_ms,
      clock,
      onAnswer: apiAnswerCounter(metrics),
    })
    const service = createServiceClient({
      url: config.service_url,
      key,
      timeout_ms: request_timeout_ms,
      requests_max: maxServiceRequests,
    })
    const operator = startOperator({
      kube,
      service,
      kinds,
      logger,
      metrics,
      timing: { clock, sleep, random: Math.random },
      identity: `${hostname()}_${randomUUID()}`,
      settings,
    })
    parts.defer(() => operator.stop())
    checks.push(...operator.checks)
    void operator.failed.then(fail)
  })
}

/** Returns a reader of the key. A file is read for each request, so that a rotated key is used. */
function keyReader(config: RoleConfig<'operator'>): () => Promise<string> {
  const { operator_key, operator_key_file } = config
  if (operator_key !== undefined) return async () => operator_key
  if (operator_key_file === undefined) {
    throw new ConfigError(
      'the operator has no key: set LOOPTRACE_OPERATOR_KEY or LOOPTRACE_OPERATOR_KEY_FILE',
    )
  }
  return async () => (await readFile(operator_key_file, 'utf8')).trim()
}

/**
 * Converts the settings of the environment; throws `ConfigError` for those that exclude each other.
 */
export function toOperatorSettings(config: RoleConfig<'operator'>): OperatorSettings {
  const lease = { ...leaseTimes, namespace: config.operator_namespace }
  const namespace_selector = parseSelector(config)
  const names = config.operator_namespaces?.split(',').map((name) => name.trim()) ?? []
  return {
    ...defaultOperatorSettings,
    namespaces: names.filter((name) => name !== ''),
    namespace_selector,
    proxy_url: parseProxyUrl(config.operator_proxy_url),
    installation: `${config.operator_namespace}/${config.operator_lease}`,
    namespace: config.operator_namespace,
    grants: parseGrants(config.operator_grants),
    default_rules: parseResources(incidentRuleSpec, {
      text: config.operator_default_rules,
      name: 'LOOPTRACE_OPERATOR_DEFAULT_RULES',
    }),
    leader_election: config.operator_leader_election
      ? { ...lease, name: config.operator_lease }
      : undefined,
    class_name: parseClass(config.operator_class),
    presence: { ...lease, name: config.operator_installation },
    orphan_grace_ms: config.operator_orphan_grace_ms,
  }
}

/** Parses the selector, which the API server has not checked. */
function parseSelector(config: RoleConfig<'operator'>): OperatorSettings['namespace_selector'] {
  const { operator_namespace_selector: text, operator_namespaces } = config
  if (text === undefined) return undefined
  const name = 'LOOPTRACE_OPERATOR_NAMESPACE_SELECTOR'
  if (operator_namespaces !== undefined) {
    throw new ConfigError(`${name}: expected no LOOPTRACE_OPERATOR_NAMESPACES beside it`)
  }
  const { data, error } = labelSelector.safeParse(parsedJson(text))
  if (error !== undefined) {
    const [issue] = error.issues
    throw new ConfigError(
      `${name}: expected a label selector in JSON: ${issue?.path.join('.')}: ${issue?.message}`,
    )
  }
  const fault = findSelectorFault(data)
  if (fault !== undefined) throw new ConfigError(`${name}: ${fault}`)
  return data
}

/** Parses the URL, a value in templates: quotes and `$` are refused, and the length is bounded. */
function parseProxyUrl(url = defaultOperatorSettings.proxy_url): string {
  if (/^[A-Za-z0-9.:/[\]_-]{1,190}$/.test(url)) return url
  throw new ConfigError(
    'LOOPTRACE_OPERATOR_PROXY_URL: expected up to 190 letters, digits, ., -, _ and :',
  )
}

/** The class labels Leases, so it is a DNS label. */
function parseClass(text: string): string {
  if (text.length <= 63 && labelPattern.test(text)) return text
  throw new ConfigError(
    `LOOPTRACE_OPERATOR_CLASS: got "${text}", expected up to 63 lower-case letters, digits and -`,
  )
}

/** Parses the grants of the installation, and fills in defaults. */
function parseGrants(text: string | undefined): readonly InstallationResource[] {
  const grants = parseResources(projectGrantSpec, { text, name: 'LOOPTRACE_OPERATOR_GRANTS' })
  return grants.map(({ name, spec }) => ({ name, spec: projectGrantSpec.parse(spec) }))
}

/**
 * Parses resources of the installation. Their specs stay as they are written, so that users may add
 * fields in the cluster.
 */
function parseResources(
  spec: z.ZodType<object>,
  { text, name }: { text: string | undefined; name: string },
): readonly InstallationResource[] {
  if (text === undefined) return []
  const value = parsedJson(text)
  const list = z.array(z.strictObject({ name: z.string().min(1).max(253), spec }))
  const parsed = list.safeParse(value)
  if (parsed.success) return value as readonly InstallationResource[]
  const [issue] = parsed.error.issues
  throw new ConfigError(
    `${name}: expected a JSON list of resources as {"name", "spec"}: ${issue?.path.join('.')}: ${issue?.message}`,
  )
}
