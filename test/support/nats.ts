import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { connect as tcpConnect } from 'node:net'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import { goTool } from './go-tool.ts'

const start_timeout_ms = 20_000
const stop_timeout_ms = 10_000

/** A real nats-server with JetStream, as a child process on loopback. */
export type NatsServer = {
  /** Its name in a cluster. */
  readonly name: string
  readonly url: string
  readonly port: number
  /** Of the current process; another one after `restart`. */
  readonly pid: number
  /** Sends SIGTERM and waits for the end. */
  stop(): Promise<void>
  /** Sends SIGKILL and waits for the end. */
  kill(): Promise<void>
  /** Sends an empty request to a subject of the JetStream API, and waits for the answer. */
  tell(subject: string): Promise<void>
  /** Stops it from answering (SIGSTOP), with its connections open. */
  pause(): void
  resume(): void
  /** Restarts it on the same port and files. */
  restart(): Promise<void>
}

export type NatsServerOptions = {
  /** JetStream's storage folder. */
  directory: string
  /** Token that clients must send. */
  token?: string
  max_payload_bytes?: number
  /** Makes it a server of a cluster: its name, its port for the others, and the ports of all. */
  cluster?: { name: string; port: number; ports: readonly number[] }
}

/** Starts three servers of one cluster. They elect their leaders in the seconds after. */
export function startNatsCluster(directory: string): Promise<NatsServer[]> {
  return onFreePorts(async () => {
    const ports = [await freePort(), await freePort(), await freePort()]
    const starts = await Promise.allSettled(
      ports.map((port) => {
        const cluster = { name: `n${port}`, port, ports }
        return startNatsServer({ directory: join(directory, `n${port}`), cluster })
      }),
    )
    const servers = starts.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    const failed = starts.find((one) => one.status === 'rejected')
    if (failed === undefined) return servers
    await Promise.all(servers.map((server) => server.kill()))
    throw failed.reason
  })
}

/** Builds nats-server if it is not cached (needs Go), and starts it. */
export async function startNatsServer(options: NatsServerOptions): Promise<NatsServer> {
  const binary = await natsServerPath()
  const configuration = join(options.directory, 'nats.conf')
  await mkdir(options.directory, { recursive: true })
  const first = await startedOnFreePort(binary, configuration, options)
  const { port } = first
  let { child } = first
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = new Promise((resolve) => child.once('exit', resolve))
    child.kill(signal)
    const hard = setTimeout(() => child.kill('SIGKILL'), stop_timeout_ms)
    await exited
    clearTimeout(hard)
  }
  return {
    name: options.cluster?.name ?? '',
    url: `nats://127.0.0.1:${port}`,
    port,
    get pid() {
      return child.pid ?? 0
    },
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    tell: (subject) => tell(port, subject),
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    restart: async () => {
      await end('SIGTERM')
      child = await started(binary, configuration, port)
    },
  }
}

function configurationOf(options: NatsServerOptions, port: number): string {
  return [
    `listen: 127.0.0.1:${port}`,
    `jetstream { store_dir: ${JSON.stringify(options.directory)} }`,
    ...(options.cluster ? clusterLines(options.cluster) : []),
    ...(options.token ? [`authorization { token: ${JSON.stringify(options.token)} }`] : []),
    ...(options.max_payload_bytes ? [`max_payload: ${options.max_payload_bytes}`] : []),
  ].join('\n')
}

function clusterLines({ name, port, ports }: NonNullable<NatsServerOptions['cluster']>): string[] {
  const routes = ports.map((other) => `nats://127.0.0.1:${other}`).join(', ')
  return [
    `server_name: ${name}`,
    `cluster { name: looptrace, listen: 127.0.0.1:${port}, routes: [${routes}] }`,
  ]
}

const maxPortTries = 5

/** Another process may take a free port first; then `start` is called again, for other ports. */
async function onFreePorts<T>(start: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await start()
    } catch (error) {
      const taken = String(error).includes('address already in use')
      if (!taken || tries === maxPortTries) throw error
    }
  }
}

function startedOnFreePort(binary: string, file: string, options: NatsServerOptions) {
  return onFreePorts(async () => {
    const port = await freePort()
    await writeFile(file, configurationOf(options, port))
    return { port, child: await started(binary, file, port) }
  })
}

async function started(binary: string, configuration: string, port: number): Promise<ChildProcess> {
  const child = spawn(binary, ['-c', configuration], { stdio: ['ignore', 'ignore', 'pipe'] })
  const reap = () => child.kill('SIGKILL')
  process.once('exit', reap)
  child.once('exit', () => process.off('exit', reap))
  let log = ''
  child.stderr?.on('data', (chunk) => {
    log = `${log}${chunk}`.slice(-4_000)
  })
  const deadline = Date.now() + start_timeout_ms
  while (!(await greets(port))) {
    if (child.exitCode !== null || Date.now() > deadline) {
      child.kill('SIGKILL')
      throw new Error(`nats-server did not start on port ${port}:\n${log}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return child
}

/** A server that accepts clients first sends INFO. */
function greets(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = tcpConnect(port, '127.0.0.1')
    const answer = (value: boolean) => {
      socket.destroy()
      resolve(value)
    }
    socket.once('data', (data) => answer(data.toString().startsWith('INFO')))
    socket.once('error', () => answer(false))
    socket.once('close', () => answer(false))
  })
}

/** A minimal client: sends a request and waits for the answer. */
function tell(port: number, subject: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = tcpConnect(port, '127.0.0.1')
    const inbox = 'SUB _INBOX.tell 1\r\n'
    socket.write(`CONNECT {}\r\n${inbox}PUB ${subject} _INBOX.tell 0\r\n\r\n`)
    socket.on('data', (data) => {
      if (!data.toString().includes('MSG _INBOX.tell')) return
      socket.destroy()
      resolve()
    })
    socket.once('error', reject)
  })
}

/** Returns the path of nats-server, and builds it first if it is missing. */
export function natsServerPath(): Promise<string> {
  return goTool('nats-server', 'github.com/nats-io/nats-server/v2')
}
