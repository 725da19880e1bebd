import { spawn } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type Blobs, type BlobsOptions, openBlobs } from '../../src/platform/blobs/index.ts'
import { type S3Server, startS3Server } from './s3-server.ts'

/** A driver of the blobs port, for the contract suite. */
export type BlobsDriver = {
  name: string
  start(): Promise<void>
  /** Opens an empty blob store for one test. */
  open(): Blobs
  /** The options that these blobs were opened with. */
  options(blobs: Blobs): BlobsOptions
  /** Files of the store, finished or not, below the prefix of these blobs. */
  filesOf(blobs: Blobs): Promise<string[]>
  stop(): Promise<void>
}

/** Options for blobs at a URL, with limits for tests. */
export function blobsOptions(url: string, server?: S3Server): BlobsOptions {
  return {
    url,
    ...(server && {
      endpoint: server.endpoint,
      region: server.region,
      credentials: {
        access_key_id: server.access_key_id,
        secret_access_key: server.secret_access_key,
      },
    }),
    path_style: true,
    attempts_max: 2,
    connect_timeout_ms: 2_000,
    request_timeout_ms: 5_000,
    connections_max: 8,
    part_bytes: 5 * 1024 * 1024,
  }
}

export function directoryDriver(): BlobsDriver {
  let directory = ''
  let opened = 0
  return {
    name: 'directory',
    start: async () => {
      directory = await mkdtemp(join(tmpdir(), 'looptrace-blobs-'))
    },
    open: () => openBlobs(blobsOptions(`${pathToFileURL(directory)}/${opened++}`)),
    options: (blobs) => blobsOptions(String(pathToFileURL(blobs.place))),
    filesOf: (blobs) => filesBelow(blobs.place),
    stop: () => rm(directory, { recursive: true, force: true }),
  }
}

export function s3Driver(): BlobsDriver {
  let directory = ''
  let server: S3Server | undefined
  const opened: Blobs[] = []
  return {
    name: 's3',
    start: async () => {
      directory = await mkdtemp(join(tmpdir(), 'looptrace-s3-'))
      server = await startS3Server({ directory })
    },
    open: () => {
      const url = `s3://${server?.bucket}/of/${opened.length}`
      const blobs = openBlobs(blobsOptions(url, server))
      opened.push(blobs)
      return blobs
    },
    options: ({ place }) => blobsOptions(place, server),
    // The server keeps unfinished uploads beside the objects of all tests.
    filesOf: () => filesBelow(server?.bucket_directory ?? ''),
    stop: async () => {
      for (const blobs of opened) blobs.close()
      await server?.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** Starts a process that puts a blob of 12 MiB that never ends, and kills it. */
export async function killedPut(options: BlobsOptions, name: string): Promise<void> {
  const script = fileURLToPath(new URL('./unending-put.ts', import.meta.url))
  const child = spawn(process.execPath, [script, JSON.stringify(options), name], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = new Promise((resolve) => child.once('exit', resolve))
  await new Promise((resolve) => child.stdout.once('data', resolve))
  child.kill('SIGKILL')
  await exited
}

async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name)
}
