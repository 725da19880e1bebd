import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import type { ConnectionOptions } from 'node:tls'
import { promisify } from 'node:util'
import { z } from 'zod'
import { parsedJson } from '../../kernel/json-values.ts'
import type { KubeEnvironment } from '../config/index.ts'
import {
  type KubeCluster,
  KubeConfigError,
  type KubePlugin,
  type KubeTarget,
} from './kubeconfig.ts'

/** Headers of requests, and TLS options of sockets. */
export type Credentials = {
  headers: Readonly<Record<string, string>>
  tls: Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'servername' | 'rejectUnauthorized'>
}

/** Signs in at one API server. */
export type SignIn = {
  /** Reads the files of the credentials, and runs the plugin if its credential has expired. */
  read(now_ms: number): Promise<Credentials>
  /** Makes the next call run the plugin. */
  forget(): void
}

/**
 * The answer of a plugin
 * (https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins).
 */
const credentialSchema = z.object({
  status: z.object({
    token: z.string().optional(),
    clientCertificateData: z.string().optional(),
    clientKeyData: z.string().optional(),
    expirationTimestamp: z.string().optional(),
  }),
})
type Issued = z.output<typeof credentialSchema>['status']

/** A person may have to answer a question of a plugin in a browser. */
const plugin_ms_max = 60_000
const maxPluginAnswerBytes = 1024 * 1024

/** Creates the sign-in of a target. Plugins inherit the variables. */
export function createSignIn(
  { cluster, user }: KubeTarget,
  variables: KubeEnvironment['variables'],
): SignIn {
  let issued: Issued | undefined
  const issue = async (now_ms: number): Promise<Issued> => {
    if (!user.exec) return {}
    if (issued === undefined || hasExpired(issued, now_ms)) {
      issued = await runPlugin(user.exec, cluster, variables)
    }
    return issued
  }
  return {
    read: async (now_ms) => {
      const own = await issue(now_ms)
      const token = (await readText(user.tokenFile))?.trim() || user.token || own.token
      const basic = Buffer.from(`${user.username}:${user.password ?? ''}`).toString('base64')
      return {
        headers: {
          ...(user.username && { authorization: `Basic ${basic}` }),
          ...(token && { authorization: `Bearer ${token}` }),
          ...(user.as && { 'impersonate-user': user.as }),
        },
        tls: {
          ca: await readPem(
            cluster['certificate-authority'],
            cluster['certificate-authority-data'],
          ),
          cert:
            own.clientCertificateData ??
            (await readPem(user['client-certificate'], user['client-certificate-data'])),
          key: own.clientKeyData ?? (await readPem(user['client-key'], user['client-key-data'])),
          servername: cluster['tls-server-name'] ?? undefined,
          rejectUnauthorized: cluster['insecure-skip-tls-verify'] !== true,
        },
      }
    },
    forget: () => {
      issued = undefined
    },
  }
}

function hasExpired({ expirationTimestamp }: Issued, now_ms: number): boolean {
  return expirationTimestamp !== undefined && !(Date.parse(expirationTimestamp) > now_ms)
}

async function readText(path: string | null | undefined): Promise<string | undefined> {
  if (!path) return undefined
  return readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new KubeConfigError(`${path} cannot be read: ${cause.code}`)
  })
}

/** Data in base64 wins over a file, as in kubectl. */
async function readPem(path: string | null | undefined, data: string | null | undefined) {
  return data ? Buffer.from(data, 'base64').toString() : readText(path)
}

/** Runs the plugin. Its answer is never part of an error; what it writes to stderr is. */
async function runPlugin(
  { apiVersion, command, args, env, provideClusterInfo }: KubePlugin,
  cluster: KubeCluster,
  variables: KubeEnvironment['variables'],
): Promise<Issued> {
  const spec = {
    interactive: false,
    ...(provideClusterInfo && { cluster: await describeCluster(cluster) }),
  }
  const added = Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]))
  const info = JSON.stringify({ kind: 'ExecCredential', apiVersion, spec })
  const run = promisify(execFile)(command, args ?? [], {
    env: { ...variables, ...added, KUBERNETES_EXEC_INFO: info },
    timeout: plugin_ms_max,
    maxBuffer: maxPluginAnswerBytes,
  })
  const { stdout } = await run.catch((cause: NodeJS.ErrnoException & { stderr?: string }) => {
    const reason = cause.stderr?.trim().slice(0, 500) || `exit status or signal: ${cause.code}`
    throw new KubeConfigError(`the plugin ${command} of the kubeconfig failed: ${reason}`)
  })
  const { data } = credentialSchema.safeParse(parsedJson(stdout))
  if (data === undefined) {
    throw new KubeConfigError(`the plugin ${command} of the kubeconfig returned no ExecCredential`)
  }
  return data.status
}

async function describeCluster(cluster: KubeCluster) {
  const {
    'certificate-authority': path,
    'certificate-authority-data': data,
    ...described
  } = cluster
  const ca = data || Buffer.from((await readText(path)) ?? '').toString('base64')
  return { ...described, ...(ca && { 'certificate-authority-data': ca }) }
}
