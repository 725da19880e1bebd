import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import proxyAddress from '@fastify/proxy-addr'
import { toClientNetwork } from '../../kernel/client-network.ts'

/**
 * Creates a function that returns the client network of a request: the network of the peer, or of
 * the last address in `X-Forwarded-For` that is no trusted proxy. Requests of the API use the same
 * rule, in Fastify.
 */
export function createClientNetworks(
  trusted_proxies: readonly string[] = [],
): (request: IncomingMessage) => string {
  if (trusted_proxies.length === 0) {
    return (request) => toClientNetwork(request.socket.remoteAddress ?? '')
  }
  const isTrusted = proxyAddress.compile([...trusted_proxies])
  return (request) => toClientNetwork(proxyAddress(request, isTrusted))
}

/** Returns all credentials of an API call as one text; undefined without credentials. */
export function credentialsOf(headers: IncomingHttpHeaders): string | undefined {
  const { authorization, cookie } = headers
  const key = headers['x-api-key']
  if (authorization === undefined && key === undefined && cookie === undefined) return undefined
  return JSON.stringify([authorization, key, cookie])
}

/** Returns the project key of a call of a raw route, whose Authorization may be the provider's. */
export function keyOf(headers: IncomingHttpHeaders): string | undefined {
  const key = headers['x-api-key'] ?? headers.authorization
  return key === undefined ? undefined : String(key)
}
