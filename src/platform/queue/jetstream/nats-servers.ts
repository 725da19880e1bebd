/** Credentials for NATS. They are secrets, and never in a log line or an error. */
export type NatsCredentials =
  | { kind: 'token'; token: string }
  | { kind: 'password'; user: string; password: string }
  /** The text of a `.creds` file (a JWT and its seed). */
  | { kind: 'creds'; creds: string }
  /** The seed of an nkey. */
  | { kind: 'nkey'; seed: string }

/** Server addresses without their user part, and the credentials of that part. */
type NatsServers = {
  addresses: string[]
  credentials: NatsCredentials | undefined
  /** Whether any address is `tls://`. */
  tls: boolean
}

/**
 * Parses addresses such as `nats://user:password@host:4222` (also `tls://`; a user without password
 * is a token), because the client supports no user part, and addresses are logged. Throws
 * TypeError, without quoting the address, for an invalid one.
 */
export function natsServers(servers: readonly string[]): NatsServers {
  const urls = servers.map(parseServer)
  const withUser = urls.find(({ username }) => username !== '')
  return {
    addresses: urls.map(({ host }) => host),
    credentials: withUser && credentialsOf(withUser),
    tls: urls.some(({ protocol }) => protocol === 'tls:'),
  }
}

function parseServer(server: string, index: number): URL {
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
