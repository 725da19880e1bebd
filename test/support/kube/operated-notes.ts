import { type ApiServer, apiServerStartTimeoutMs, operatorAccount } from './api-server.ts'
import { noteKind } from './note-kind.ts'
import { type NoteService, startNoteService } from './note-service.ts'
import { startTestOperator, type TestOperator, type TestOperatorOptions } from './operator.ts'
import { type Resources, resourcesOf } from './resources.ts'
import { sharedApiServer } from './shared-api-server.ts'

export { apiServerStartTimeoutMs }

/**
 * An API server with the kind Note, a service for it, and an account with an operator's
 * permissions.
 */
export type NoteCluster = AsyncDisposable & {
  server: ApiServer
  service: NoteService
  /** The operator's kubeconfig; `url` may name a gate. */
  kubeconfig(url?: string): Promise<string>
}

/** The server of this worker, and a service; for `beforeAll`, with `apiServerStartTimeoutMs`. */
export async function sharedNoteCluster(options: { upserts?: boolean } = {}): Promise<NoteCluster> {
  await using parts = new AsyncDisposableStack()
  const server = parts.use(await sharedApiServer([noteKind]))
  const service = parts.use(await startNoteService(options))
  const all = parts.move()
  return {
    server,
    service,
    kubeconfig: (url) => server.kubeconfig(operatorAccount, url),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

/** A namespace for one test, and an operator that watches only this namespace. */
export type OperatedNamespace = AsyncDisposable & {
  namespace: string
  notes: Resources
  operator: TestOperator
  /** The service's name for the owner of a note. */
  owner(name: string): string
}

type Options = Partial<TestOperatorOptions> & { namespace?: string }

export async function operatedNamespace(
  { server, service, kubeconfig }: NoteCluster,
  options: Options = {},
): Promise<OperatedNamespace> {
  const namespace = options.namespace ?? (await server.namespace())
  const operator = startTestOperator({
    kubeconfig: await kubeconfig(),
    service_url: service.url,
    kinds: [noteKind],
    ...options,
    settings: { namespaces: [namespace], ...options.settings },
  })
  return {
    namespace,
    notes: resourcesOf(server, noteKind, namespace),
    operator,
    owner: (name) => `${namespace}/${name}`,
    [Symbol.asyncDispose]: () => operator.stop(),
  }
}
