import { createServer, type Http2Server, type ServerHttp2Session } from 'node:http2'
import type { Socket } from 'node:net'
import { addressTaken } from '../../../../platform/http/index.ts'
import type { OtlpGrpcOptions, OtlpGrpcServer } from './contract.ts'
import { createGrpcExport } from './grpc-export.ts'
import type { ReceiverServices } from './services.ts'

/** Without a sign of life for so long after it was asked for, a connection is closed. */
const keepaliveTimeout_ms = 20_000

/**
 * What a client may send ahead, also while its key is looked up; the 64 KiB of HTTP/2 make it stop
 * and wait in most requests.
 */
const flowWindow_bytes = 256 * 1024

/** Of all headers of a call: a key, a baggage of 8 KiB and what gateways add. */
const headers_bytes_max = 32 * 1024

/**
 * Listens for exports over gRPC: unary calls over HTTP/2 without TLS (h2c), all that OTLP needs of
 * it. Throws AddressUnavailable when it can't.
 */
export async function startGrpc(
  services: ReceiverServices,
  { host, port, streams_max, keepalive_ms }: OtlpGrpcOptions,
): Promise<OtlpGrpcServer> {
  const server = createServer({
    settings: {
      maxConcurrentStreams: streams_max,
      initialWindowSize: flowWindow_bytes,
      maxHeaderListSize: headers_bytes_max,
    },
  })
  const sockets = new Set<Socket>()
  const sessions = new Set<ServerHttp2Session>()
  let closed: Promise<void> | undefined
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.on('session', (session) => {
    sessions.add(session)
    session.once('close', () => sessions.delete(session))
    session.setLocalWindowSize(flowWindow_bytes)
    keepAlive(session, keepalive_ms)
    if (closed) session.close()
  })
  server.on('stream', createGrpcExport(services))
  const bound = await listening(server, host, port)
  return {
    port: bound,
    close: async (grace_ms) => {
      closed ??= new Promise((resolve) => server.close(() => resolve()))
      for (const session of sessions) session.close()
      const force = setTimeout(() => {
        for (const socket of sockets) socket.destroy()
      }, grace_ms)
      await closed
      clearTimeout(force)
    },
  }
}

function listening(server: Http2Server, host: string, port: number): Promise<number> {
  return new Promise<number>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, () => {
      server.off('error', reject)
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : port)
    })
  }).catch(addressTaken(host, port))
}

/** A peer that is gone without a word, or speaks no HTTP/2, never answers. */
function keepAlive(session: ServerHttp2Session, every_ms: number): void {
  let unanswered: NodeJS.Timeout | undefined
  const ping = () => {
    if (unanswered !== undefined) return
    unanswered = setTimeout(() => session.destroy(), keepaliveTimeout_ms)
    session.ping(() => {
      clearTimeout(unanswered)
      unanswered = undefined
    })
  }
  const timer = setInterval(ping, every_ms)
  session.once('close', () => {
    clearInterval(timer)
    clearTimeout(unanswered)
  })
}
