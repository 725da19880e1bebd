/** How to prove who we are to NATS. The values are secrets: they are in no log line and no error. */
export type NatsCredentials =
  | { kind: 'token'; token: string }
  | { kind: 'password'; user: string; password: string }
  /** The text of a `.creds` file (a JWT and its seed). */
  | { kind: 'creds'; creds: string }
  /** The seed of an nkey. */
  | { kind: 'nkey'; seed: string }

/** Server addresses without their user part, and what that part said. */
export type NatsServers = {
  addresses: string[]
  credentials: NatsCredentials | undefined
  /** A `tls://` address was given. */
  tls: boolean
}

/**
 * Takes `nats://user:password@host:4222` apart (`tls://` too; a user without password is a token),
 * because the client knows no user part and the address is logged. Throws TypeError, without
 * quoting the address, when one can't be read.
 */
export function natsServers(servers: readonly string[]): NatsServers {
  const urls = servers.map(parsed)
  const withUser = urls.find(({ username }) => username !== '')
  return {
    addresses: urls.map(({ host }) => host),
    credentials: withUser && credentialsOf(withUser),
    tls: urls.some(({ protocol }) => protocol === 'tls:'),
  }
}

function parsed(server: string, index: number): URL {
  const url = URL.parse(server.includes('://') ? server : `nats://${server}`)
  if (url === null || !['nats:', 'tls:'].includes(url.protocol) || url.host === '') {
    throw new TypeError(`NATS server ${index + 1}: expected nats://host:port or tls://host:port`)
  }
  return url
}

function credentialsOf({ username, password }: URL): NatsCredentials {
  const user = decodeURIComponent(username)
  if (password === '') return { kind: 'token', token: user }
  return { kind: 'password', user, password: decodeURIComponent(password) }
}
