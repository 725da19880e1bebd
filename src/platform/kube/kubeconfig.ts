import { existsSync, readFileSync } from 'node:fs'
import { isIPv6 } from 'node:net'
import { delimiter, dirname, join, resolve } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import type { KubeEnvironment } from '../config/index.ts'

/** No API server is configured, or its configuration cannot be used. Quotes no values of files. */
export class KubeConfigError extends Error {
  override readonly name = 'KubeConfigError'
}

const text = z.string().nullish()

const clusterSchema = z.object({
  server: z.string().min(1),
  'certificate-authority': text,
  'certificate-authority-data': text,
  'insecure-skip-tls-verify': z.boolean().nullish(),
  'tls-server-name': text,
  'proxy-url': text,
})

const execSchema = z.object({
  apiVersion: z.string(),
  command: z.string().min(1),
  args: z.array(z.string()).nullish(),
  env: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
  provideClusterInfo: z.boolean().nullish(),
})

/** A field that changes the identity of requests, so it must not be ignored. */
const refused = z.null('is not supported').optional()

const userSchema = z.object({
  token: text,
  tokenFile: text,
  username: text,
  password: text,
  'client-certificate': text,
  'client-certificate-data': text,
  'client-key': text,
  'client-key-data': text,
  as: text,
  'as-uid': refused,
  'as-groups': refused,
  'as-user-extra': refused,
  'auth-provider': z.null('is not supported: use exec').optional(),
  exec: execSchema.nullish(),
})

const fileSchema = z.object({
  'current-context': text,
  clusters: z.array(z.object({ name: z.string(), cluster: z.unknown() })).nullish(),
  users: z.array(z.object({ name: z.string(), user: z.unknown() })).nullish(),
  contexts: z
    .array(
      z.object({
        name: z.string(),
        context: z.object({ cluster: z.string(), user: text, namespace: text }),
      }),
    )
    .nullish(),
})

export type KubeCluster = z.output<typeof clusterSchema>
type KubeUser = z.output<typeof userSchema>
export type KubePlugin = z.output<typeof execSchema>

/** An API server, and how to sign in there. Paths are absolute. */
export type KubeTarget = { cluster: KubeCluster; user: KubeUser; namespace: string | undefined }

/**
 * Finds the API server of `KUBECONFIG`, `~/.kube/config` or the service account of the pod, in this
 * order. Throws KubeConfigError when none is configured, or a file cannot be used.
 */
export function findKubeTarget(env: KubeEnvironment): KubeTarget {
  const paths = env.kubeconfig?.split(delimiter).filter((path) => path !== '') ?? []
  if (paths.length > 0) return readTarget(paths)
  const path = join(env.home, '.kube', 'config')
  if (existsSync(path)) return readTarget([path])
  if (existsSync(join(env.service_account, 'token'))) return targetOfPod(env)
  throw new KubeConfigError(
    'no API server is configured: set KUBECONFIG, or provide ~/.kube/config or a pod service account',
  )
}

/** Kubernetes rotates the token and the CA in these files, so both are read again later. */
function targetOfPod({ service_account, service_host, service_port }: KubeEnvironment): KubeTarget {
  const host = isIPv6(service_host ?? '') ? `[${service_host}]` : service_host
  const namespace = join(service_account, 'namespace')
  return {
    cluster: {
      server: `https://${host}:${service_port}`,
      'certificate-authority': join(service_account, 'ca.crt'),
    },
    user: { tokenFile: join(service_account, 'token') },
    namespace: existsSync(namespace) ? readFileSync(namespace, 'utf8').trim() : undefined,
  }
}

/**
 * Reads the current context. As in kubectl, the first of several files that has a value or an entry
 * of a name wins.
 */
function readTarget(paths: readonly string[]): KubeTarget {
  const files = paths.map((path) => ({ path, folder: dirname(resolve(path)), ...readFile(path) }))
  const name = files.map((file) => file['current-context']).find((current) => current)
  if (!name) throw new KubeConfigError(`${paths.join(', ')}: expected a current-context`)
  const find = <T>(kind: string, wanted: string, read: (file: (typeof files)[number]) => T) => {
    const found = files.map(read).find((entry) => entry !== undefined)
    if (found !== undefined) return found
    throw new KubeConfigError(`${paths.join(', ')}: expected a ${kind} named ${wanted}`)
  }
  const { context } = find('context', name, ({ contexts }) => named(contexts, name))
  const cluster = find('cluster', context.cluster, ({ clusters, path, folder }) => {
    const entry = named(clusters, context.cluster)
    return entry && absoluteCluster(folder, parseEntry(clusterSchema, entry.cluster, path))
  })
  const user = context.user
    ? find('user', context.user, ({ users, path, folder }) => {
        const entry = named(users, context.user)
        return entry && absoluteUser(folder, parseEntry(userSchema, entry.user ?? {}, path))
      })
    : {}
  return { cluster, user, namespace: context.namespace || undefined }
}

function readFile(path: string): z.output<typeof fileSchema> {
  let value: unknown
  try {
    // Pretty errors quote lines of the file, which may be secrets.
    value = parse(readFileSync(path, 'utf8'), { prettyErrors: false })
  } catch (cause) {
    const { code = 'it is not YAML' } = cause as NodeJS.ErrnoException
    throw new KubeConfigError(`${path} cannot be read: ${code}`)
  }
  return parseEntry(fileSchema, value ?? {}, path)
}

function parseEntry<T>(schema: z.ZodType<T>, value: unknown, path: string): T {
  const { data, error } = schema.safeParse(value)
  if (error === undefined) return data as T
  const [issue] = error.issues
  throw new KubeConfigError(`${path}: ${issue?.path.join('.')}: ${issue?.message}`)
}

function named<E extends { name: string }>(entries: E[] | null | undefined, name: unknown) {
  return entries?.find((entry) => entry.name === name)
}

/** Paths are relative to the folder of their file. */
function absolute(folder: string, path: string | null | undefined): string | undefined {
  return path ? resolve(folder, path) : undefined
}

function absoluteCluster(folder: string, cluster: KubeCluster): KubeCluster {
  const authority = absolute(folder, cluster['certificate-authority'])
  return { ...cluster, 'certificate-authority': authority }
}

function absoluteUser(folder: string, user: KubeUser): KubeUser {
  const { exec } = user
  return {
    ...user,
    tokenFile: absolute(folder, user.tokenFile),
    'client-certificate': absolute(folder, user['client-certificate']),
    'client-key': absolute(folder, user['client-key']),
    // A command without a slash is searched in PATH.
    exec: exec?.command.includes('/') ? { ...exec, command: resolve(folder, exec.command) } : exec,
  }
}
