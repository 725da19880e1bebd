import { projectGrantKind } from '../../../src/operator/kinds/project-grant/index.ts'
import { serviceAccountKind } from '../../../src/operator/kinds/service-account/index.ts'
import { type ApiServer, limitedAccount, operatorAccount } from './api-server.ts'
import { grantProject } from './grants.ts'
import type { KubeObject } from './kube-request.ts'
import type { OperatedService } from './operated-service.ts'
import { startTestOperator, type TestOperator, type TestOperatorOptions } from './operator.ts'
import { grant, operatorRules, without } from './operator-rules.ts'
import { type Resources, resourcesOf } from './resources.ts'
import { sharedApiServer } from './shared-api-server.ts'
import { sharedService } from './shared-service.ts'

const root = '/api/v2/access'
const operated = [serviceAccountKind, projectGrantKind]
/** A parsed body; tests read it without narrowing. */
type Json = ReturnType<typeof JSON.parse>

/** An API server with the kind LooptraceServiceAccount, and the product's API. */
export type AccountCluster = AsyncDisposable & { server: ApiServer; service: OperatedService }

/** Returns those of this worker; for `beforeAll`, with `apiServerStartTimeoutMs`. */
export async function sharedAccountCluster(): Promise<AccountCluster> {
  const server = await sharedApiServer(operated)
  const rules = operatorRules(operated.map(({ plural }) => plural))
  await grant(server, without(rules, 'create', 'secrets'), limitedAccount)
  return {
    ...{ server, service: await sharedService() },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

/** A namespace and a project for one test. */
export type AccountPlace = {
  namespace: string
  project: string
  accounts: Resources
  /** The service accounts of the project. */
  inService(): Promise<Json[]>
  /** Keys of the project that are neither revoked nor expired. */
  liveKeys(): Promise<Json[]>
  /** undefined if it does not exist; `data` is text. */
  secret(name: string): Promise<KubeObject | undefined>
  /** The names of the Secrets of the namespace. */
  secretNames(): Promise<string[]>
  /** Whether the service accepts the key. */
  isGood(key: string): Promise<boolean>
  /** Sends a request about the project as its administrator. */
  call: (method: string, path: string, body?: unknown) => ReturnType<OperatedService['call']>
}

export async function accountPlace({ server, service }: AccountCluster): Promise<AccountPlace> {
  const namespace = await server.namespace()
  const project = await service.project()
  await grantProject(server, namespace, project)
  const call: AccountPlace['call'] = (method, path, body) =>
    service.call(method, root + path, { project_id: project, body })
  const secrets = `/api/v1/namespaces/${namespace}/secrets`
  return {
    ...{ namespace, project, call },
    accounts: resourcesOf(server, serviceAccountKind, namespace),
    inService: async () => (await call('GET', '/service-accounts')).body.service_accounts,
    liveKeys: async () => {
      const { body } = await call('GET', `/projects/${project}/api-keys?limit=1000`)
      const now = new Date().toISOString()
      return body.api_keys.filter(
        (key: Json) => key.revoked_at === null && (key.expires_at ?? '9') > now,
      )
    },
    secret: async (name) => {
      const { status, body } = await server.ask('GET', `${secrets}/${name}`)
      if (status === 404) return undefined
      const data = Object.entries(body.data ?? {}).map(([key, value]) => [
        key,
        Buffer.from(String(value), 'base64').toString('utf8'),
      ])
      return { ...body, data: Object.fromEntries(data) }
    },
    secretNames: async () => {
      const { items } = await server.tell('GET', secrets)
      return items.map((secret: KubeObject) => secret.metadata.name).sort()
    },
    isGood: async (key) => {
      // 403: the key lacks the scope; 401: the key is invalid.
      const { status } = await service.call('GET', '/api/v2/observability/retention-policy', {
        key,
      })
      if (status === 401) return false
      if (status === 200 || status === 403) return true
      throw new Error(`a key can not be tried: ${status}`)
    },
  }
}

/** An operator of service accounts that watches one namespace. */
export async function operatorOf(
  { server, service }: AccountCluster,
  { namespace }: Pick<AccountPlace, 'namespace'>,
  { user = operatorAccount, ...options }: Partial<TestOperatorOptions> & { user?: string } = {},
): Promise<TestOperator> {
  return startTestOperator({
    kubeconfig: await server.kubeconfig(user),
    service_url: service.url,
    service_key: service.operator_key,
    kinds: operated,
    ...options,
    settings: { namespaces: [namespace], ...options.settings },
  })
}
