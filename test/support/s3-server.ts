import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { sleep } from '../../src/kernel/time.ts'
import { freePort } from './free-port.ts'
import { goTool } from './go-tool.ts'

/** A real S3-compatible server (versitygw) on loopback, as a child process. */
export type S3Server = {
  readonly endpoint: string
  readonly region: string
  readonly bucket: string
  readonly access_key_id: string
  readonly secret_access_key: string
  /** The folder that holds the bucket's objects as files. */
  readonly bucket_directory: string
  /** Sends SIGKILL and waits for the end. */
  kill(): Promise<void>
  /** Restarts it on the same port and files. */
  restart(): Promise<void>
  stop(): Promise<void>
}

const start_timeout_ms = 20_000
const bucket = 'looptrace-test'
const access_key_id = 'test-access-key'
const secret_access_key = 'test-secret-access-key-0123456789'

/** Builds the server if it is not cached (needs Go), and starts it. */
export async function startS3Server({ directory }: { directory: string }): Promise<S3Server> {
  const binary = await s3ServerPath()
  const objects = join(directory, 'objects')
  const about = join(directory, 'about')
  await mkdir(join(objects, bucket), { recursive: true })
  await mkdir(about, { recursive: true })
  const port = await freePort()
  const words = ['--port', `127.0.0.1:${port}`, '--quiet', 'posix', '--sidecar', about, objects]
  const endpoint = `http://127.0.0.1:${port}`
  let child = await started(binary, words, endpoint)
  const end = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await exited
  }
  return {
    ...{ endpoint, bucket, access_key_id, secret_access_key },
    region: 'us-east-1',
    bucket_directory: join(objects, bucket),
    kill: end,
    stop: end,
    restart: async () => {
      await end()
      child = await started(binary, words, endpoint)
    },
  }
}

async function started(binary: string, words: string[], endpoint: string): Promise<ChildProcess> {
  const child = spawn(binary, words, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ROOT_ACCESS_KEY: access_key_id, ROOT_SECRET_KEY: secret_access_key },
  })
  const reap = () => child.kill('SIGKILL')
  process.once('exit', reap)
  child.once('exit', () => process.off('exit', reap))
  let log = ''
  child.stderr?.on('data', (chunk) => {
    log = `${log}${chunk}`.slice(-4_000)
  })
  const deadline_ms = Date.now() + start_timeout_ms
  while (!(await answers(endpoint))) {
    if (child.exitCode !== null || Date.now() > deadline_ms) {
      child.kill('SIGKILL')
      throw new Error(`versitygw did not start at ${endpoint}:\n${log}`)
    }
    await sleep(20)
  }
  return child
}

function answers(endpoint: string): Promise<boolean> {
  return fetch(endpoint).then(
    async (response) => {
      await response.arrayBuffer()
      return true
    },
    () => false,
  )
}

/** Returns the path of the S3 server, and builds it first if it is missing. */
export function s3ServerPath(): Promise<string> {
  return goTool('versitygw', 'github.com/versity/versitygw/cmd/versitygw')
}
