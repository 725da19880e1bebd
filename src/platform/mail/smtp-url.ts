/** A mail server, from `smtp(s)://user:password@host:port`. */
export type SmtpServer = {
  host: string
  port: number
  /** How the connection is encrypted: from the first byte, by STARTTLS, or only if offered. */
  tls: 'always' | 'starttls' | 'optional'
  auth: { user: string; pass: string } | undefined
}

/** The URL of the mail server is invalid. The message does not quote it. */
export class SmtpUrlRefused extends Error {
  override readonly name = 'SmtpUrlRefused'
}

const expected = 'expected smtp://user:password@host:port or smtps://user:password@host:port'

/**
 * Parses the URL of a mail server. `smtp://` requires STARTTLS, except on this machine or with
 * `?tls=off`: otherwise an attacker on the network could remove the encryption and read reset links.
 * Throws SmtpUrlRefused.
 */
export function parseSmtpUrl(text: string): SmtpServer {
  const url = URL.parse(text)
  if (url === null || !['smtp:', 'smtps:'].includes(url.protocol) || url.hostname === '') {
    throw new SmtpUrlRefused(expected)
  }
  const unknown = [...url.searchParams].some(([name, value]) => name !== 'tls' || value !== 'off')
  if (unknown || url.hash !== '' || !['', '/'].includes(url.pathname)) {
    throw new SmtpUrlRefused(`${expected}; the only option is ?tls=off`)
  }
  const isSecure = url.protocol === 'smtps:'
  const isPlain = url.searchParams.get('tls') === 'off'
  if (isSecure && isPlain) throw new SmtpUrlRefused('?tls=off needs smtp:// and not smtps://')
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const plainOrStartTls = isPlain || loopback.test(host) ? 'optional' : 'starttls'
  return {
    host,
    port: Number(url.port) || (isSecure ? 465 : 587),
    tls: isSecure ? 'always' : plainOrStartTls,
    auth: url.username === '' ? undefined : parseLogin(url),
  }
}

const loopback = /^(localhost|127(\.\d+){3}|::1)$/

function parseLogin({ username, password }: URL): { user: string; pass: string } {
  try {
    return { user: decodeURIComponent(username), pass: decodeURIComponent(password) }
  } catch {
    throw new SmtpUrlRefused('the user and password need percent-encoding: % is %25')
  }
}
