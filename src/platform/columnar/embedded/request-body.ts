import { closeSync, openSync, writeSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { EngineError } from './engine-error.ts'

/** Reads a body as text. Rejects with EngineError when it is longer than allowed. */
export async function textBody(request: IncomingMessage, bytes_max: number): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of bounded(request, bytes_max)) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

/**
 * Puts a body in a file, lends its path to the work, removes it. The engine reads binary rows from
 * there: chDB takes statements as text only. The file is never synced, so it lives in memory.
 * So a write is a copy, done at once: to hand it to libuv's threads costs more than the copy.
 */
export async function withBodyFile<T>(
  request: IncomingMessage,
  options: { directory: string; name: string; bytes_max: number },
  work: (path: string) => Promise<T>,
): Promise<T> {
  const path = join(options.directory, options.name)
  try {
    const file = openSync(path, 'wx', 0o600)
    try {
      for await (const chunk of bounded(request, options.bytes_max)) writeSync(file, chunk)
    } finally {
      closeSync(file)
    }
    return await work(path)
  } finally {
    await rm(path, { force: true })
  }
}

async function* bounded(request: IncomingMessage, bytes_max: number): AsyncGenerator<Buffer> {
  let length_bytes = 0
  for await (const chunk of request) {
    length_bytes += chunk.length
    if (length_bytes > bytes_max) {
      throw new EngineError(307, 'TOO_MANY_BYTES', `the body is longer than ${bytes_max} bytes`)
    }
    yield chunk
  }
}
