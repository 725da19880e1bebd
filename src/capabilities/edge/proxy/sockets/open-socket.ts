import type { Duplex } from 'node:stream'
import type { Call } from '../call/call.ts'
import type { ProjectKey } from '../contract.ts'
import type { ResponseHeaders } from '../relay/response-headers.ts'
import { enterUpstream, leaveUpstream, type Upstream } from '../relay/upstream.ts'
import type { SocketSessionOptions } from './session-options.ts'
import { SocketSession } from './socket-session.ts'

/**
 * Switches the connection of a client to the WebSocket that the provider has opened. Returns the
 * session; undefined when the client has left.
 */
export function switchProtocol(
  { call, upstream, key }: { call: Call; upstream: Upstream; key: ProjectKey },
  {
    connection,
    headers,
    admit,
  }: Pick<SocketSessionOptions, 'admit'> & { connection: Duplex; headers: ResponseHeaders },
): SocketSession | undefined {
  const { services, context } = call
  // The call leaves the provider as it is handed over, and its connections stay open for the socket.
  enterUpstream(upstream)
  const client = call.isClosed ? null : call.handOver()
  if (client === null || client.destroyed) {
    leaveUpstream(upstream)
    connection.on('error', () => undefined).destroy()
    return undefined
  }
  client.write(headOf(headers, services.ids.uuid(call.start_ms)), 'latin1')
  const session = new SocketSession({
    services,
    handshake: call,
    key,
    context,
    provider: upstream.provider,
    client,
    upstream: connection,
    admit,
    onEnd: () => leaveUpstream(upstream),
  })
  session.start()
  return session
}

/** Returns the head of the answer that switches the protocol. */
function headOf({ forwarded, request_id }: ResponseHeaders, own_id: string): string {
  const lines = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade']
  for (let i = 0; i < forwarded.length; i += 2) lines.push(`${forwarded[i]}: ${forwarded[i + 1]}`)
  if (request_id === '') lines.push(`X-Request-ID: ${own_id}`)
  return `${lines.join('\r\n')}\r\n\r\n`
}
