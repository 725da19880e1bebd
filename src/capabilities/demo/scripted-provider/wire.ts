import type { ServerResponse } from 'node:http'
import { createGzip, constants as zlib } from 'node:zlib'
import { type Clock, sleep } from '../../../kernel/time.ts'
import type { SeenLog, SeenRequest } from './seen.ts'

/** The connection of one request: writes the answer and records its outcome. */
export type Wire = {
  /** Aborts when the client leaves, the server stops or the answer ends. */
  signal: AbortSignal
  head(status: number, headers: Record<string, string>): void
  /** Writes bytes to the socket; resolves when they have left the process or the client is gone. */
  write(bytes: Buffer): Promise<void>
  end(): void
  /** Closes the connection without ending the answer, after sending the written bytes. */
  cut(): void
  /** Writes text that is not HTTP instead of an answer. */
  writeNoHttp(text: string): void
}

type WireOptions = { response: ServerResponse; request: SeenRequest; log: SeenLog; clock: Clock }

/** Opens the wire of one request. */
export function openWire({ response, request, log, clock }: WireOptions): Wire {
  const gone = new AbortController()
  response.on('close', () => {
    log.ended(request, response.writableFinished ? 'complete' : 'client_gone', clock.now_ms())
    gone.abort()
  })
  return {
    signal: gone.signal,
    head: (status, headers) => {
      response.writeHead(status, headers)
      response.flushHeaders()
      request.status = status
      request.headers_at_ms = clock.now_ms()
    },
    write: async (bytes) => {
      if (gone.signal.aborted || bytes.length === 0) return
      request.first_byte_at_ms ??= clock.now_ms()
      request.bytes_written += bytes.length
      await writeOut(response, bytes, gone.signal)
    },
    end: () => {
      response.end()
    },
    cut: () => {
      log.ended(request, 'cut', clock.now_ms())
      response.destroy()
    },
    writeNoHttp: (text) => {
      log.ended(request, 'cut', clock.now_ms())
      response.socket?.end(text)
    },
  }
}

function writeOut(response: ServerResponse, bytes: Buffer, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      signal.removeEventListener('abort', done)
      resolve()
    }
    signal.addEventListener('abort', done, { once: true })
    response.write(bytes, done)
  })
}

/** How a body's bytes are sent. Limits count bytes on the wire; the first one reached applies. */
type BodyShape = {
  gzip: boolean
  split_at_every_byte: boolean
  cut_after_bytes: number | undefined
  stall_after_bytes: number | undefined
}

/** Longest stall of an answer, so that nothing waits for ever. */
const stall_ms_max = 600_000

/** Writes the body of one answer. */
export type BodyWriter = {
  /** False when nothing may follow, because the client left or a limit was reached. */
  write(bytes: Buffer): Promise<boolean>
  end(): Promise<void>
}

/** Creates the writer of one answer's body, with the scripted faults. */
export function bodyWriter(wire: Wire, shape: BodyShape): BodyWriter {
  const gzip = shape.gzip ? gzipper() : undefined
  const limit = Math.min(shape.cut_after_bytes ?? Infinity, shape.stall_after_bytes ?? Infinity)
  let left = limit
  const send = async (bytes: Buffer): Promise<boolean> => {
    const allowed = bytes.subarray(0, Math.min(left, bytes.length))
    left -= allowed.length
    for (const part of shape.split_at_every_byte ? singleBytes(allowed) : [allowed]) {
      await wire.write(part)
    }
    if (left > 0) return !wire.signal.aborted
    if (limit === shape.cut_after_bytes) wire.cut()
    else await stall(wire)
    return false
  }
  return {
    write: async (bytes) => send(gzip ? await gzip(bytes, false) : bytes),
    end: async () => {
      if (gzip && !(await send(await gzip(Buffer.alloc(0), true)))) return
      wire.end()
    },
  }
}

/** Keeps the connection open without sending, until the client leaves or `stall_ms_max` is over. */
export async function stall(wire: Wire): Promise<void> {
  await sleep(stall_ms_max, wire.signal)
  wire.cut()
}

/** Compresses piece by piece; each call returns the flushed bytes of its piece. */
function gzipper(): (bytes: Buffer, last: boolean) => Promise<Buffer> {
  const stream = createGzip()
  const parts: Buffer[] = []
  stream.on('data', (part: Buffer) => parts.push(part))
  const takeParts = () => Buffer.concat(parts.splice(0))
  return (bytes, last) =>
    new Promise((resolve) => {
      stream.write(bytes)
      if (!last) return stream.flush(zlib.Z_SYNC_FLUSH, () => resolve(takeParts()))
      stream.once('end', () => resolve(takeParts()))
      stream.end()
    })
}

function* singleBytes(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += 1) yield bytes.subarray(at, at + 1)
}
