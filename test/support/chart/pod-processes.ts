import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, chown, copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { imageOf } from '../../../scripts/dockerfile.ts'
import { bundle } from '../bundle.ts'
import { eventually } from '../eventually.ts'
import type { ApiServer } from '../kube/api-server.ts'
import type { KubeObject } from '../kube/kube-request.ts'
import { mountedSecrets } from './mounted-secrets.ts'

const repository = join(import.meta.dirname, '../../..')

/** A container of a pod, as a process of this machine. */
export type ContainerProcess = {
  name: string
  /** Standard output and error so far. */
  output(): string
  /** The exit status, once it has ended. */
  ended: Promise<number | null>
  stop(): Promise<number | null>
  /** Sends SIGKILL and waits for the end. */
  kill(): Promise<void>
}

/** Options of a pod of `namespace` that runs as processes, as a kubelet would run it. */
export type PodOptions = {
  server: ApiServer
  namespace: string
  /** Replaces the pod's volumes and its /tmp; created if missing. */
  directory: string
  /** Maps ports of containers to ports of this machine. */
  ports: Readonly<Record<number, number>>
  /** Maps services (`host:port`), which cannot be resolved here, to ports of this machine. */
  services: Readonly<Record<string, number>>
  /** Additional environment variables, for servers outside the cluster. */
  outside: Readonly<Record<string, string>>
  /** The user of the pod's token. */
  user: string
}

/** A folder for pods that their user may enter; not below /tmp, because a pod has its own /tmp. */
export async function podDirectory(): Promise<string> {
  const directory = await mkdtemp(join(mayConfine() ? '/var/tmp' : tmpdir(), 'looptrace-pod-'))
  await chmod(directory, 0o755)
  return directory
}

/**
 * Runs a container's command with its own environment only: its Secrets are read from the API server
 * into files, ports and host names are mapped to this machine, and the service account's token becomes a
 * kubeconfig. If permitted, the process runs as the image's user and can write only to its volumes:
 * the repository is mounted read-only for it, and the bundle in it is the image's /app.
 */
export async function startContainer(
  pod: KubeObject,
  container: KubeObject,
  options: PodOptions,
): Promise<ContainerProcess> {
  const { directory } = options
  const { user, entrypoint } = imageOf(join(repository, 'Dockerfile'), 'embedded')
  const [, gid = 0] = user.split(':').map(Number)
  await volumesIn(directory, gid)
  await writeSecrets(pod, container, options, gid)
  const env = await environmentOf(container, options)
  const [, main = ''] = entrypoint
  const app = mayConfine() ? join(directory, 'app') : repository
  const node = process.execPath.replace(repository, app)
  const installed = join(app, relative(repository, bundle))
  const command = [node, main.replace('/app', installed), ...container.args]
  const [file = '', ...args] = mayConfine() ? confined(command, directory, user) : command
  const child = spawn(file, args, { cwd: '/', env, stdio: ['ignore', 'pipe', 'pipe'] })
  const reap = () => child.kill('SIGTERM')
  process.once('exit', reap)
  const output = outputOf(child)
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  void ended.then(() => process.off('exit', reap))
  return {
    name: container.name,
    output,
    ended,
    stop: () => {
      child.kill('SIGTERM')
      return ended
    },
    kill: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** Waits until the process reports that it is ready. */
export async function whenReady(started: ContainerProcess): Promise<void> {
  let status: number | null | undefined
  void started.ended.then((code) => {
    status = code
  })
  await eventually(
    `${started.name} is ready`,
    () => {
      if (status !== undefined) throw new Error(`${started.name} ended:\n${started.output()}`)
      return started.output().includes('"msg":"ready"')
    },
    { timeout_ms: 120_000, interval_ms: 50 },
  ).catch((cause: unknown) => {
    throw new Error(`${cause}\n${started.output()}`, { cause })
  })
}

/** Gives volumes to root and, by `fsGroup`, to the pod's group, as a kubelet does. */
async function volumesIn(directory: string, gid: number): Promise<void> {
  await mkdir(directory, { recursive: true })
  await chmod(directory, 0o755)
  for (const name of ['app', 'data', 'tmp', 'bootstrap']) {
    const path = join(directory, name)
    if (existsSync(path)) continue
    await mkdir(path)
    if (mayConfine()) await chown(path, 0, gid)
    await chmod(path, 0o2775)
  }
}

/**
 * Writes the files of a container's Secrets below the pod's folder, as the kubelet writes a volume:
 * with the volume's mode, for root and the pod's group. Rejects when a Secret or a key is missing,
 * which would block the pod.
 */
async function writeSecrets(
  pod: KubeObject,
  container: KubeObject,
  { server, namespace, directory }: PodOptions,
  gid: number,
): Promise<void> {
  for (const { path, secret, key, mode } of mountedSecrets(pod, container).values()) {
    if (secret === undefined) continue
    const file = secretPlace(directory, container.name, path)
    await mkdir(dirname(file), { recursive: true })
    await rm(file, { force: true })
    await writeFile(file, await secretValue(server, namespace, secret, key))
    if (mayConfine()) await chown(file, 0, gid)
    await chmod(file, mode)
  }
}

/** Returns the place on this machine of a path below /etc/looptrace in a container. */
function secretPlace(directory: string, container: string, path: string): string {
  const inside = path.slice('/etc/looptrace/'.length)
  if (inside === 'bootstrap' || inside.startsWith('bootstrap/')) return join(directory, inside)
  return join(directory, `secrets-of-${container}`, inside)
}

async function environmentOf(
  { name: container, env, volumeMounts }: KubeObject,
  options: PodOptions,
): Promise<Record<string, string>> {
  const { server, directory } = options
  const own: Record<string, string> = {
    ...{ PATH: '/usr/local/bin:/usr/bin:/bin', ...options.outside },
  }
  for (const { name, value, valueFrom } of env) {
    if (valueFrom !== undefined) throw new Error(`${container}: ${name} is not a plain value`)
    own[name] = value.startsWith('/etc/looptrace/')
      ? secretPlace(directory, container, value)
      : here(value, options)
  }
  if (volumeMounts.some((mount: KubeObject) => mount.name === 'token')) {
    const file = join(directory, 'kubeconfig')
    await copyFile(await server.kubeconfig(options.user), file)
    await chmod(file, 0o644)
    own['KUBECONFIG'] = file
  }
  return own
}

async function secretValue(
  server: ApiServer,
  namespace: string,
  name: string,
  key: string,
): Promise<string> {
  const { data } = await server.tell('GET', `/api/v1/namespaces/${namespace}/secrets/${name}`)
  return Buffer.from(data[key], 'base64').toString()
}

/** Replaces hosts and paths of the pod in a value by those of this machine. */
function here(value: string, { directory, ports, services }: PodOptions): string {
  if (value === '/data') return join(directory, 'data')
  if (value === '0.0.0.0') return '127.0.0.1'
  const port = ports[Number(value)]
  if (port !== undefined) return String(port)
  return value.replace(/^(https?:\/\/)([^/]+)/, (all, scheme, service) => {
    return service in services ? `${scheme}127.0.0.1:${services[service]}` : all
  })
}

/**
 * Only root may change the user and mounts, and not in every container. Other users run the process
 * unchanged, which tests only its environment.
 */
function mayConfine(): boolean {
  confines ??= process.getuid?.() === 0 && spawnSync('unshare', ['--mount', 'true']).status === 0
  return confines
}

let confines: boolean | undefined

/**
 * The command as the image's user in its own mounts: the file system is read-only except for the
 * pod's volumes, /tmp is the pod's, the repository is at the image's path (even if the user cannot
 * enter its folder), and /etc/passwd has the user's name as in the image.
 */
function confined(command: readonly string[], directory: string, user: string): string[] {
  const [uid = '', gid = ''] = user.split(':')
  const script = `
    mount --make-rprivate /
    echo 'looptrace:x:${uid}:${gid}::/tmp:/usr/sbin/nologin' > "$0/passwd"
    mount --bind "$0/passwd" /etc/passwd
    mount --bind "$0/data" "$0/data"
    mount --bind "$0/bootstrap" "$0/bootstrap"
    mount --bind "$1" "$0/app"
    mount -o remount,ro,bind "$0/app"
    mount --bind "$0/tmp" /tmp
    mount -o remount,ro,bind /
    shift
    exec setpriv --reuid=${uid} --regid=${gid} --clear-groups --no-new-privs --inh-caps=-all "$@"`
  return ['unshare', '--mount', 'sh', '-ec', script, directory, repository, ...command]
}

function outputOf(child: ChildProcess): () => string {
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  return () => output
}
