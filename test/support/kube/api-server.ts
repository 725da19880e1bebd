import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { launchApiServer } from './api-server-process.ts'
import type { ApiServerProcess } from './api-server-run.ts'
import { type CommandOptions, type CommandResult, runCommand } from './commands.ts'
import { ask, type KubeMethod, type KubeObject, type KubeReply, tell } from './kube-request.ts'
import { helmPath, kubectlPath } from './tools.ts'

/** The first start of all builds the server, which takes minutes: for `beforeAll`. */
export const apiServerStart_timeout_ms = 900_000

/** Who has a token: everything is allowed to the one, and what a test's roles say to the other. */
export const admin = 'admin'
export const operatorAccount = 'system:serviceaccount:looptrace-system:looptrace-operator'

/** A Kubernetes API server of a test file's own, with its data in a temporary folder. */
export type ApiServer = AsyncDisposable & {
  /** Stays over restarts. */
  readonly url: string
  readonly pid: number
  /** For temporary files; goes with the server. */
  readonly directory: string
  tokenOf(user: string): string
  /** Writes a kubeconfig; `url` may name a gate before the server. */
  kubeconfig(user?: string, url?: string): Promise<string>
  /** kubectl as somebody (admin), with whatever exit status. */
  kubectl(args: readonly string[], options?: RunAs): Promise<CommandResult>
  helm(args: readonly string[], options?: RunAs): Promise<CommandResult>
  /** A request as somebody, with whatever answer. */
  ask(method: KubeMethod, path: string, about?: About & { user?: string }): Promise<KubeReply>
  /** A request as admin that has to succeed. */
  tell(method: KubeMethod, path: string, about?: About): Promise<KubeObject>
  /** An empty namespace with a name of its own. */
  namespace(labels?: Record<string, string>): Promise<string>
  /** Drops the history: whoever asks for an older version is told 410. */
  compact(): Promise<void>
  stop(): Promise<void>
  kill(): Promise<void>
  /** Starts it again, on the same port and data. */
  restart(): Promise<void>
  /** SIGSTOP: it takes connections and says nothing. */
  pause(): void
  resume(): void
}

type About = { body?: unknown; type?: string }
type RunAs = CommandOptions & { user?: string }

/** `users` are those who have a token beside `admin` and `operatorAccount`. */
export async function startApiServer(
  options: { users?: readonly string[] } = {},
): Promise<ApiServer> {
  await using parts = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'looptrace-kube-'))
  parts.defer(() => rm(directory, { recursive: true, force: true }))
  const users = [admin, operatorAccount, ...(options.users ?? [])]
  const tokens = new Map(users.map((user) => [user, randomUUID()]))
  const files = {
    directory: join(directory, 'data'),
    token_file: join(directory, 'tokens.csv'),
    admin_token: tokenIn(tokens, admin),
  }
  await writeFile(files.token_file, tokenLines(tokens), { mode: 0o600 })
  let running: ApiServerProcess = await launchApiServer({ ...files, port: 0 })
  parts.defer(() => running.end('SIGKILL'))
  const { url } = running
  const caller = (user: string = admin) => ({ url, token: tokenIn(tokens, user) })
  const all = parts.move()
  const kubeconfig: ApiServer['kubeconfig'] = async (user = admin, at = url) => {
    const file = join(directory, `kubeconfig-${randomUUID()}.json`)
    await writeFile(file, kubeconfigOf(at, tokenIn(tokens, user)), { mode: 0o600 })
    return file
  }
  const kubeconfigs = new Map<string, Promise<string>>()
  const command = async (
    path: string,
    args: readonly string[],
    { user = admin, ...more }: RunAs,
  ) => {
    const file = kubeconfigs.get(user) ?? kubeconfig(user)
    kubeconfigs.set(user, file)
    return runCommand(path, args, { ...more, home: directory, env: { KUBECONFIG: await file } })
  }
  return {
    url,
    directory,
    get pid() {
      return running.pid
    },
    tokenOf: (user) => tokenIn(tokens, user),
    kubeconfig,
    kubectl: async (args, as = {}) => command(await kubectlPath(), args, as),
    helm: async (args, as = {}) => command(await helmPath(), args, as),
    ask: (method, path, { user, ...about } = {}) => ask(caller(user), method, path, about),
    tell: (method, path, about) => tell(caller(), method, path, about),
    namespace: async (labels = {}) => {
      const name = `test-${randomUUID().slice(0, 8)}`
      const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }
      await tell(caller(), 'POST', '/api/v1/namespaces', { body })
      return name
    },
    compact: () => running.compact(),
    stop: () => running.end('SIGTERM'),
    kill: () => running.end('SIGKILL'),
    restart: async () => {
      await running.end('SIGTERM')
      running = await launchApiServer({ ...files, port: Number(new URL(url).port) })
    },
    pause: () => void process.kill(running.pid, 'SIGSTOP'),
    resume: () => void process.kill(running.pid, 'SIGCONT'),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

function tokenIn(tokens: ReadonlyMap<string, string>, user: string): string {
  const token = tokens.get(user)
  if (token === undefined) throw new Error(`${user} has no token: name it in startApiServer`)
  return token
}

function tokenLines(tokens: ReadonlyMap<string, string>): string {
  const lines = [...tokens].map(([user, token]) => `${token},${user},${user},"${groupsOf(user)}"`)
  return `${lines.join('\n')}\n`
}

/** As a real server has them: a service account belongs to all of its namespace, and to all. */
function groupsOf(user: string): string {
  if (user === admin) return 'system:masters'
  const [, kind, namespace] = user.split(':')
  if (kind !== 'serviceaccount') return ''
  return `system:serviceaccounts,system:serviceaccounts:${namespace}`
}

function kubeconfigOf(server: string, token: string): string {
  return JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'test' },
    clusters: [{ name: 'test', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'test', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
  })
}
