import { type Kind, kinds } from '../../../src/operator/index.ts'
import { retentionPolicyKind } from '../../../src/operator/kinds/retention-policy/index.ts'
import { serviceAccountKind } from '../../../src/operator/kinds/service-account/index.ts'
import { type ApiServer, operatorAccount } from './api-server.ts'
import { grantProject } from './grants.ts'
import type { KubeObject } from './kube-request.ts'
import type { OperatedService } from './operated-service.ts'
import { startTestOperator, type TestOperator, type TestOperatorOptions } from './operator.ts'
import type { OperatorProcessOptions } from './operator-process.ts'
import { type Resources, resourcesOf } from './resources.ts'
import { sharedApiServer } from './shared-api-server.ts'
import { sharedService } from './shared-service.ts'

/** A parsed body; tests read it without narrowing. */
type Json = ReturnType<typeof JSON.parse>

/** An API server with the kinds of the product, and the part of the product that they declare. */
export type ProductCluster = AsyncDisposable & { server: ApiServer; service: OperatedService }

/** Returns those of this worker; for `beforeAll`, with `apiServerStartTimeoutMs`. */
export async function sharedProductCluster(): Promise<ProductCluster> {
  const server = await sharedApiServer(kinds)
  return {
    ...{ server, service: await sharedService() },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

/** A namespace and a project for one test, with their contents. */
export type ProductPlace = {
  namespace: string
  project: string
  policies: Resources
  accounts: Resources
  /** The retention policy of the project, as the service returns it. */
  policy(): Promise<Json>
  /** The service accounts of the project. */
  accountsInService(): Promise<Json[]>
  /** Keys of the project that are neither revoked nor expired. */
  liveKeys(): Promise<Json[]>
  /** The Secrets of the namespace, by name, with values as text. */
  secrets(): Promise<Map<string, KubeObject>>
}

/** The namespace is granted its project, unless `isGranted` is false. */
export async function productPlace(
  { server, service }: Pick<ProductCluster, 'server' | 'service'>,
  { isGranted = true }: { isGranted?: boolean } = {},
): Promise<ProductPlace> {
  const namespace = await server.namespace()
  const project = await service.project()
  if (isGranted) await grantProject(server, namespace, project)
  const get = async (path: string): Promise<Json> => {
    const { status, body } = await service.call('GET', path, { project_id: project })
    if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`)
    return body
  }
  const of = (kind: Kind) => resourcesOf(server, kind, namespace)
  return {
    ...{ namespace, project },
    policies: of(retentionPolicyKind),
    accounts: of(serviceAccountKind),
    policy: () => get('/api/v2/observability/retention-policy'),
    accountsInService: async () => (await get('/api/v2/access/service-accounts')).service_accounts,
    liveKeys: async () => {
      const { api_keys } = await get(`/api/v2/access/projects/${project}/api-keys?limit=1000`)
      const now = new Date().toISOString()
      return api_keys.filter(
        (key: Json) => key.revoked_at === null && (key.expires_at ?? '9') > now,
      )
    },
    secrets: async () => {
      const { items } = await server.tell('GET', `/api/v1/namespaces/${namespace}/secrets`)
      return new Map(items.map((secret: KubeObject) => [secret.metadata.name, asText(secret)]))
    },
  }
}

function asText(secret: KubeObject): KubeObject {
  const values = Object.entries(secret.data ?? {}).map(([name, value]) => [
    name,
    Buffer.from(String(value), 'base64').toString('utf8'),
  ])
  return { ...secret, data: Object.fromEntries(values) }
}

/** Settings of an operator of the product's kinds in these namespaces. */
export async function productOptions(
  { server, service }: ProductCluster,
  namespaces: readonly string[],
): Promise<TestOperatorOptions> {
  return {
    kubeconfig: await server.kubeconfig(operatorAccount),
    service_url: service.url,
    service_key: service.operator_key,
    ...{ kinds, settings: { namespaces } },
  }
}

/** Starts such an operator in this process. */
export async function productOperator(
  cluster: ProductCluster,
  namespaces: readonly string[],
  more: Partial<TestOperatorOptions> = {},
): Promise<TestOperator> {
  return startTestOperator({ ...(await productOptions(cluster, namespaces)), ...more })
}

/** Starts such an operator as a process. */
export async function productProcess(
  cluster: ProductCluster,
  namespaces: readonly string[],
): Promise<OperatorProcessOptions> {
  const { kubeconfig, service_url } = await productOptions(cluster, namespaces)
  const service_key = cluster.service.operator_key
  return { kubeconfig, service_url, service_key, kinds: 'product', namespaces }
}
