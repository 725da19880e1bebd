import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { newId } from '../../src/kernel/ids.ts'
import { kinds } from '../../src/operator/index.ts'
import {
  type AccessTables,
  openRelational,
  type RetentionTables,
} from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { allTenants } from '../../test/support/all-tenants.ts'
import { type HttpGate, httpGate } from '../../test/support/http-gate.ts'
import { type ApiServer, admin, startApiServer } from '../../test/support/kube/api-server.ts'
import { grantProject } from '../../test/support/kube/grants.ts'
import { installKinds } from '../../test/support/kube/resources.ts'
import { type Service, startService } from '../../test/support/service.ts'
import { startSingleMachine } from '../../test/support/single-machine.ts'

/** An API server and the service as processes, with gates in front of them that count requests. */
export type BenchCluster = AsyncDisposable & {
  server: ApiServer
  kube: HttpGate
  service: HttpGate
  namespace: string
  /** Creates this many projects; returns their ids. */
  addProjects(count: number): Promise<string[]>
  /** Days that the service keeps traces of a project, read from the service's store. */
  daysOf(project_id: string): Promise<number | null | undefined>
  /** Starts role `operator` as a process, and waits until it is ready. */
  startOperator(): Promise<Service>
}

export async function startBenchCluster(): Promise<BenchCluster> {
  await using parts = new AsyncDisposableStack()
  const server = parts.use(await startApiServer())
  await installKinds(server, kinds)
  const machine = parts.use(await startSingleMachine())
  const kube = parts.use(await httpGate(server.url))
  const service = parts.use(await httpGate(machine.service.base_url))
  const key = await readFile(join(machine.directory, 'operator-key'), 'utf8')
  const namespace = await server.namespace()
  // With all permissions: this API server reads roles again for each request, a real one does not.
  const kubeconfig = await server.kubeconfig(admin, kube.url)
  const relational = openRelational<AccessTables & RetentionTables>({
    scope: allTenants,
    url: await machine.postgresUrl(),
    logger: createLogger({ role: 'bench', level: 'error' }),
    pool_max: 2,
    connect_timeout_ms: 5_000,
    statement_timeout_ms: 60_000,
  })
  parts.defer(() => relational.close())
  const all = parts.move()
  return {
    server,
    kube,
    service,
    namespace,
    addProjects: async (count) => {
      const { organization_id } = machine.login
      const ids = Array.from({ length: count }, newId)
      const rows = ids.map((id) => ({ id, organization_id, name: id }))
      for (let at = 0; at < count; at += 1_000) {
        await relational.db
          .insertInto('projects')
          .values(rows.slice(at, at + 1_000))
          .execute()
      }
      for (let at = 0; at < count; at += 20) {
        const some = ids.slice(at, at + 20)
        await Promise.all(some.map((id) => grantProject(server, namespace, id)))
      }
      return ids
    },
    daysOf: async (project_id) => {
      const row = await relational.db
        .selectFrom('retention_policies')
        .select('days')
        .where('project_id', '=', project_id)
        .executeTakeFirst()
      return row?.days.traces
    },
    startOperator: () =>
      startService('operator', {
        KUBECONFIG: kubeconfig,
        LOOPTRACE_SERVICE_URL: service.url,
        LOOPTRACE_OPERATOR_KEY: key.trim(),
        LOOPTRACE_OPERATOR_NAMESPACE: namespace,
        // As in the chart.
        NODE_OPTIONS: '--max-semi-space-size=1 --v8-pool-size=1',
      }),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}
