import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import proxyAddress from '@fastify/proxy-addr'
import { toClientNetwork } from '../../kernel/client-network.ts'

/**
 * Creates a function that returns the client network of a request: the network of the peer, or of
 * the last address in `X-Forwarded-For` that is not a trusted proxy. Requests of the API use the same
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

/** Headers of raw routes that may carry a project key, or a key that is for a provider. */
const keyHeaders = ['x-looptrace-key', 'x-api-key', 'authorization', 'x-goog-api-key', 'api-key']

/**
 * Returns the credentials of a call of a raw route as one text; undefined without any. A project key
 * in `X-API-Key` is enough. Otherwise the text has all places of keys, because each place may have
 * the provider's key: the same provider key with another project key is another caller.
 */
export function keyOf({
  headers,
  url = '',
}: Pick<IncomingMessage, 'headers' | 'url'>): string | undefined {
  const key = headers['x-api-key']
  if (typeof key === 'string' && key.startsWith('lt_')) return key
  const sent = keyHeaders.map((name) => headers[name])
  const query = /\?.*(?:key|%).*/i.exec(url)?.[0]
  if (query === undefined && sent.every((value) => value === undefined)) return undefined
  return JSON.stringify([...sent, query])
}
