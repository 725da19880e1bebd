import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { type AllowedNetwork, isReachable } from './address-policy.ts'
import {
  abortedBy,
  allowedAddresses,
  failed,
  nameRefused,
  OutboundFailed,
} from './outbound-failed.ts'

export type OutboundOptions = {
  /** Networks that are not public and may be reached. */
  allowed: readonly AllowedNetwork[]
  /**
   * Names and addresses in canonical form that may be reached wherever they lead, on any port. Only
   * for servers that the configuration of the process names, never for those that a user names.
   */
  trusted_hosts?: readonly string[]
  /** Resolves a name to all its addresses; in tests a server of their own. */
  resolve?: (host: string) => Promise<readonly Address[]>
}

export type Guard = Required<OutboundOptions>

/** The part of the guard that a request names. */
export type RequestGuard = { signal: AbortSignal; public_ports: readonly number[] }

export type Address = { address: string; family: number }

/** Returns the guard of the options. */
export function toGuard(options: OutboundOptions): Guard {
  return { trusted_hosts: [], resolve: resolveByHost, ...options }
}

/** Returns the URL in its canonical form: `http://0x7f.1` is `http://127.0.0.1`. */
export function toTarget(text: string): URL {
  const url = /\p{Cc}/u.test(text) ? null : URL.parse(text)
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw new OutboundFailed('refused', 'the URL is not an absolute http or https URL')
  }
  if (url.username !== '' || url.password !== '') {
    throw failed('refused', url, 'is named with a user or password, which a URL must not carry')
  }
  return url
}

/** Returns whether a text is a URL that may be a target. Does not check its address. */
export function isTarget(text: string): boolean {
  try {
    return toTarget(text).protocol !== ''
  } catch {
    return false
  }
}

/**
 * Returns why an address in a URL is refused, without a request. Returns undefined for a reachable
 * address, and for a name, which may lead to another address at each request. `localhost` and names
 * below it are loopback (RFC 6761).
 */
export function refusedAddress(
  url: URL,
  { allowed, trusted_hosts, public_ports }: Guard & Pick<RequestGuard, 'public_ports'>,
): OutboundFailed | undefined {
  const host = hostOf(url)
  const isLocal = host === 'localhost' || host.endsWith('.localhost')
  const address = isLocal ? '127.0.0.1' : host
  if (isIP(address) === 0 || trusted_hosts.includes(host)) return undefined
  const port = portOf(url)
  if (isReachable(address, port, { allowed, public_ports })) return undefined
  return failed('refused', url, notAllowed(port, public_ports))
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
}

function portOf({ port, protocol }: URL): number {
  return Number(port) || (protocol === 'https:' ? 443 : 80)
}

/** Returns the addresses of the URL's host. Rejects if one of them is not reachable. */
export async function reachableAddresses(
  url: URL,
  { signal, public_ports, ...guard }: Guard & RequestGuard,
): Promise<readonly Address[]> {
  const { allowed, trusted_hosts, resolve } = guard
  const fault = refusedAddress(url, { ...guard, public_ports })
  if (fault !== undefined) throw fault
  const port = portOf(url)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const family = isIP(host)
  if (family > 0) return [{ address: host, family }]
  const ports = public_ports
  const isAllowed = (address: string) =>
    trusted_hosts.includes(host) || isReachable(address, port, { allowed, public_ports })
  const addresses = await unlessAborted(resolve(host), { signal, url, ports })
  if (addresses.length === 0) {
    throw nameRefused('unresolved', url, { what: 'has no address', ports })
  }
  if (addresses.every(({ address }) => isAllowed(address))) return addresses
  throw nameRefused('refused', url, { what: notAllowed(port, ports), ports })
}

function notAllowed(port: number, ports: readonly number[]): string {
  return `port ${port} is not allowed: expected ${allowedAddresses(ports)}`
}

async function resolveByHost(host: string): Promise<readonly Address[]> {
  return lookup(host, { all: true, verbatim: true })
}

async function unlessAborted<T>(
  work: Promise<T>,
  { signal, url, ports }: { signal: AbortSignal; url: URL; ports: readonly number[] },
): Promise<T> {
  using ending = new DisposableStack()
  const aborted = new Promise<never>((_, reject) => {
    const abort = () => reject(abortedBy(signal, url, false))
    if (signal.aborted) return abort()
    signal.addEventListener('abort', abort, { once: true })
    ending.defer(() => signal.removeEventListener('abort', abort))
  })
  const resolved = work.catch(() => {
    throw nameRefused('unresolved', url, { what: 'is not known to the name server', ports })
  })
  return await Promise.race([resolved, aborted])
}
