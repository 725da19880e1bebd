import type { IncomingMessage } from 'node:http'
import { type Problem, problem } from '../../kernel/problem.ts'

/** Returns whether a request asks for a WebSocket. */
export function isUpgrade({
  method,
  headers,
}: Pick<IncomingMessage, 'method' | 'headers'>): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket'
}

/** Returns the error of a request for a WebSocket on a route that opens none. */
export function upgradeFault(request: IncomingMessage): Problem | undefined {
  if (!isUpgrade(request)) return undefined
  const detail = 'Upgrade: this path does not open a WebSocket, expected a request without it'
  return problem('invalid_request', { detail, faults: [{ pointer: 'Upgrade', detail }] })
}
