import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { launchApiServer } from './api-server-process.ts'
import type { ApiServerProcess } from './api-server-run.ts'
import { type CommandOptions, type CommandResult, runCommand } from './commands.ts'
import { ask, type KubeMethod, type KubeObject, type KubeReply, tell } from './kube-request.ts'
import { helmPath, kubectlPath } from './tools.ts'

/** For `beforeAll`: the very first start builds the server, which takes minutes. */
export const apiServerStartTimeoutMs = 900_000

/** Users with tokens: `admin` may do everything, `operatorAccount` what a test's roles allow. */
export const admin = 'admin'
export const operatorAccount = 'system:serviceaccount:looptrace-system:looptrace-operator'
/** A user with all permissions of an operator except creating Secrets, after `grant`. */
export const limitedAccount = 'system:serviceaccount:looptrace-system:limited'
/** Two users without permissions: tests give `editor` some namespaces, and `nobody` none. */
export const editor = 'eve'
export const nobody = 'system:serviceaccount:looptrace:nobody'
/** All of them, for a server that test files share. */
export const knownUsers = [limitedAccount, editor, nobody]

/** A Kubernetes API server for one test file, with its data in a temporary folder. */
export type ApiServer = AsyncDisposable & {
  /** Does not change over restarts. */
  readonly url: string
  readonly pid: number
  /** For temporary files; deleted with the server. */
  readonly directory: string
  tokenOf(user: string): string
  /** Writes a kubeconfig; `url` may name a gate in front of the server. */
  kubeconfig(user?: string, url?: string): Promise<string>
  /** Runs kubectl as a user (default: admin), with any exit status. */
  kubectl(args: readonly string[], options?: RunAs): Promise<CommandResult>
  helm(args: readonly string[], options?: RunAs): Promise<CommandResult>
  /** Sends a request as a user, with any answer. */
  ask(method: KubeMethod, path: string, about?: About & { user?: string }): Promise<KubeReply>
  /** Sends a request as admin that must succeed. */
  tell(method: KubeMethod, path: string, about?: About): Promise<KubeObject>
  /** Creates an empty namespace with a unique name. */
  namespace(labels?: Record<string, string>): Promise<string>
  /** Compacts the history: requests for an older version get 410. */
  compact(): Promise<void>
  stop(): Promise<void>
  kill(): Promise<void>
  /** Restarts it on the same port and data. */
  restart(): Promise<void>
  /** Sends SIGSTOP: it accepts connections and does not answer. */
  pause(): void
  resume(): void
}

type About = { body?: unknown; type?: string }
type RunAs = CommandOptions & { user?: string }

/** `users` get tokens in addition to `admin` and `operatorAccount`. */
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
  // A controller of a real control plane creates this namespace, whose uid identifies the cluster.
  await ask(caller(), 'POST', '/api/v1/namespaces', { body: namespaceOf('kube-system', {}) })
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
      await tell(caller(), 'POST', '/api/v1/namespaces', { body: namespaceOf(name, labels) })
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

function namespaceOf(name: string, labels: Record<string, string>) {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }
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

/** Groups as in a real server: those of all service accounts, and of its namespace. */
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
