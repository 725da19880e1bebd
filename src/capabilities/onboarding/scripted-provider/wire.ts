import type { ServerResponse } from 'node:http'
import type { Clock } from '../../../kernel/time.ts'
import type { SeenLog, SeenRequest } from './seen.ts'

/** One request's way back: writes the answer and notes what became of it. */
export type Wire = {
  /** Aborts when the client leaves, the server stops or the answer ends. */
  signal: AbortSignal
  head(status: number, headers: Record<string, string>): void
  /** Hands bytes to the socket; resolves when they left this process, or nobody is there. */
  write(bytes: Buffer): Promise<void>
  end(): void
  /** Closes the connection without an end, after what was written has left. */
  cut(): void
  /** Instead of an HTTP answer. */
  writeNoHttp(text: string): void
}

type About = { response: ServerResponse; request: SeenRequest; log: SeenLog; clock: Clock }

/** Makes the way back of one request. */
export function openWire(about: About): Wire {
  const { response, request, log, clock } = about
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
      await written(response, bytes, gone.signal)
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

function written(response: ServerResponse, bytes: Buffer, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      signal.removeEventListener('abort', done)
      resolve()
    }
    signal.addEventListener('abort', done, { once: true })
    response.write(bytes, done)
  })
}
