import { execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { imageOf, type Stage, type Step, stagesOf } from './dockerfile.ts'

/**
 * Runs the steps of the Dockerfile in a temporary folder, without a container engine: measures the
 * result and starts the entry point from there, as another user who can write only to its data.
 * `image-check.ts [cluster|embedded] [--keep]`. Base images are not fetched: their size is that of
 * their publishers.
 */
const target = process.argv.slice(2).find((word) => !word.startsWith('-')) ?? 'cluster'
/** Base images: gcr.io/distroless/cc-debian12 and debian:12-slim, unpacked. */
const variants = {
  cluster: { bytes_max: 180e6, base_bytes: 24e6, role: 'proxy' },
  embedded: { bytes_max: Number.POSITIVE_INFINITY, base_bytes: 75e6, role: 'all' },
}
if (target !== 'cluster' && target !== 'embedded') {
  throw new TypeError(`"${target}": expected cluster or embedded`)
}
const { bytes_max, base_bytes, role } = variants[target]

const repository = resolve(import.meta.dirname, '..')
const startTimeoutMs = 120_000
const place = mkdtempSync(join(tmpdir(), 'looptrace-image-'))

/** Builds the target's stage and those it copies from; returns its root. */
function build(): string {
  const stages = stagesOf(join(repository, 'Dockerfile'))
  const built = new Map<string, string>()
  const need = (name: string): string => {
    const known = built.get(name)
    if (known !== undefined) return known
    const stage = stages.get(name)
    if (stage === undefined) throw new Error(`Dockerfile: there is no stage ${name}`)
    const root = join(place, name)
    perform(stage, root, need)
    built.set(name, root)
    return root
  }
  return need(target)
}

function perform(stage: Stage, root: string, need: (stage: string) => string): void {
  mkdirSync(join(root, 'usr/local/bin'), { recursive: true })
  mkdirSync(join(root, 'etc'))
  // In the image Node comes with the base image; here it is the npm package's.
  if (stage.base.includes('node')) cpSync(process.execPath, join(root, 'usr/local/bin/node'))
  let workdir = '/'
  for (const step of stage.steps) {
    if (step.word === 'WORKDIR') workdir = step.rest
    const here = join(root, workdir)
    mkdirSync(here, { recursive: true })
    if (step.word === 'COPY') copy(step, here, { root, need })
    if (step.word === 'RUN') runIn(here, root, step.rest)
  }
}

function copy(
  { rest }: Step,
  workdir: string,
  { root, need }: { root: string; need: (stage: string) => string },
): void {
  const words = rest.split(/\s+/)
  const from = words[0]?.startsWith('--from=') ? words.shift()?.slice('--from='.length) : undefined
  const to = words.pop() ?? '.'
  const source = from === undefined ? repository : need(from)
  const destination = to.startsWith('/') ? join(root, to) : join(workdir, to)
  for (const word of words) {
    const path = join(source, word)
    const isFile = statSync(path).isFile()
    const at =
      isFile && (to.endsWith('/') || existsSync(destination))
        ? join(destination, word.split('/').at(-1) ?? '')
        : destination
    cpSync(path, at, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (name) => from !== undefined || !/\.test\.ts$/.test(name),
    })
  }
}

/** Commands can refer to the stage's own root only by relative paths and in /etc/passwd. */
function runIn(cwd: string, root: string, command: string): void {
  console.log(`  ${command}`)
  const here = command.replaceAll('/etc/passwd', join(root, 'etc/passwd'))
  const path = `${join(root, 'usr/local/bin')}:${process.env['PATH']}`
  execFileSync('sh', ['-ec', here], { cwd, env: { ...process.env, PATH: path }, stdio: 'inherit' })
}

function measure(root: string): void {
  const packages = bytesOf(join(root, 'app/node_modules'))
  const parts: [string, number][] = [
    ['base image (as published)', base_bytes],
    ['node', bytesOf(join(root, 'usr/local/bin/node'))],
    ['packages beside the bundle', packages],
    ['bundle, with licences and bill of materials', bytesOf(join(root, 'app')) - packages],
  ]
  const all = parts.reduce((sum, [, bytes]) => sum + bytes, 0)
  for (const [name, bytes] of [...parts, ['together', all] as const]) {
    console.log(`${(bytes / 1e6).toFixed(1).padStart(8)} MB  ${name}`)
  }
  if (all > bytes_max) throw new Error(`the image has ${all} bytes, expected at most ${bytes_max}`)
}

function bytesOf(path: string): number {
  if (!existsSync(path)) return 0
  const stat = statSync(path)
  if (stat.isFile()) return stat.size
  return readdirSync(path, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
}

/**
 * The entry point prints its help; a role starts, reports that it is ready, and ends on request.
 */
async function start(root: string): Promise<void> {
  const { user, entrypoint } = imageOf(join(repository, 'Dockerfile'), target)
  const [uid = '', gid = ''] = user.split(':')
  const asRoot = process.getuid?.() === 0
  execFileSync('chmod', ['-R', 'a-w,a+rX', root])
  execFileSync('chmod', ['755', place])
  const data = join(place, 'data')
  mkdirSync(data)
  if (asRoot) execFileSync('chown', [`${uid}:${gid}`, data])
  const [, main = ''] = entrypoint
  const asUser = asRoot ? underUser(root, uid, gid) : []
  if (!asRoot) console.log('not root: it is started as the present user')
  const begin = (words: readonly string[]) => {
    const [file = '', ...args] = [
      ...asUser,
      join(root, 'usr/local/bin/node'),
      join(root, main),
      ...words,
    ]
    const child = spawn(file, args, {
      cwd: '/',
      env: envOf(data),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        output += chunk
      })
    }
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
    return { child, ended, output: () => output }
  }
  const help = begin(['help'])
  if ((await help.ended) !== 0) throw new Error(`help:\n${help.output()}`)
  console.log('help: exit status 0')
  const began_ms = performance.now()
  const running = begin([role])
  while (!running.output().includes('"msg":"ready"')) {
    if (running.child.exitCode !== null || performance.now() - began_ms > startTimeoutMs) {
      running.child.kill('SIGKILL')
      throw new Error(`${role} did not start:\n${running.output()}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  console.log(`${role}: ready after ${Math.round(performance.now() - began_ms)} ms`)
  running.child.kill('SIGTERM')
  const status = await running.ended
  console.log(`${role}: exit status ${status}`)
  if (status !== 0) throw new Error(running.output())
}

/**
 * A prefix that runs a command as the image's user, with the name from the image's /etc/passwd,
 * visible only to this command, in a separate mount namespace.
 */
function underUser(root: string, uid: string, gid: string): string[] {
  const setpriv = ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--']
  const passwd = join(root, 'etc/passwd')
  if (!existsSync(passwd)) return setpriv
  const mount = 'mount --bind "$0" /etc/passwd && exec "$@"'
  return ['unshare', '--mount', 'sh', '-c', mount, passwd, ...setpriv]
}

/** The proxy starts also while stores are unavailable; role `all` brings its own. */
function envOf(data: string): Record<string, string> {
  const ports = ['LOOPTRACE_HTTP_PORT', 'LOOPTRACE_MANAGEMENT_PORT', 'LOOPTRACE_OTLP_GRPC_PORT']
  return {
    NODE_ENV: 'production',
    PATH: process.env['PATH'] ?? '',
    LOOPTRACE_DATA_DIRECTORY: data,
    LOOPTRACE_DEMO: 'false',
    ...Object.fromEntries(ports.map((name) => [name, '0'])),
    ...(target === 'cluster' && {
      LOOPTRACE_POSTGRES_HOST: '127.0.0.1',
      LOOPTRACE_NATS_URL: 'nats://127.0.0.1:9',
    }),
  }
}

try {
  const root = build()
  measure(root)
  await start(root)
} finally {
  if (!process.argv.includes('--keep')) {
    execFileSync('chmod', ['-R', 'u+w', place])
    rmSync(place, { recursive: true })
  }
}
