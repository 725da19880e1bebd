/** The parts of `ws` that tests use; the package has no types of its own. */
declare module 'ws' {
  import type { EventEmitter } from 'node:events'
  import type { IncomingMessage, Server } from 'node:http'

  export interface ClientOptions {
    headers?: Record<string, string>
  }

  export class WebSocket extends EventEmitter {
    constructor(
      url: string,
      protocols: string[],
      options: { headers?: Record<string, string>; perMessageDeflate?: boolean },
    )
    readonly protocol: string
    readonly readyState: number
    send(data: string | Buffer, options?: { binary?: boolean; fin?: boolean }): void
    ping(data?: string): void
    close(code?: number, reason?: string): void
    terminate(): void
    pause(): void
    resume(): void
  }

  export class WebSocketServer extends EventEmitter {
    constructor(options: {
      port?: number
      host?: string
      server?: Server
      maxPayload?: number
      verifyClient?: (
        info: { req: IncomingMessage },
        answer: (ok: boolean, status?: number, text?: string) => void,
      ) => void
    })
    readonly clients: Set<WebSocket>
    address(): { port: number }
    close(done?: () => void): void
  }
}
