import type { Transporter } from 'nodemailer'
import { backOff } from '../../kernel/back-off.ts'
import { sleep } from '../../kernel/time.ts'
import type { Logger, Metrics } from '../telemetry/index.ts'

/** A mail of plain text. */
type Mail = {
  /** One address, or several that see each other. */
  to: string | readonly string[]
  subject: string
  text: string
  /** Identity of the mail without brackets, `id@host`: receivers show a repeated one once. */
  message_id?: string
  /** Identities of earlier mails of the conversation. */
  references?: readonly string[]
  /** Attempts; 3 by default. */
  attempts_max?: number
}

/** Sends mails. */
export type Mailer = {
  /** Whether a mail server is configured. If not, `send` rejects. */
  configured: boolean
  /** Resolves when the mail server has accepted the mail. Rejects with MailFailed. */
  send(mail: Mail): Promise<void>
  /** Gives up mails that wait for another attempt. */
  close(): void
}

/** A mail was not sent. The message has no address, text or credentials. */
export class MailFailed extends Error {
  override readonly name = 'MailFailed'
  /** Code of the mail server's answer; undefined without an answer. */
  readonly code: number | undefined

  constructor(message: string, code?: number) {
    super(message)
    this.code = code
  }
}

/** Opens a mailer. The server is contacted, and its library loaded, with the first mail. */
export function openMailer(options: {
  /** `smtp(s)://user:password@host:port`; undefined if no mails can be sent. */
  smtp_url: string | undefined
  /** Sender of the mails. */
  from: string | undefined
  logger: Logger
  metrics: Metrics
  /** Wait before the second attempt, for tests. */
  retry_ms?: number
}): Mailer {
  const { smtp_url, from, logger, metrics, retry_ms = 2_000 } = options
  const mails = metrics.counter({
    name: 'looptrace_mails_total',
    help: 'Mails by outcome: sent, or failed after all attempts.',
    labels: ['outcome'],
  })
  if (smtp_url === undefined || from === undefined) return unconfigured
  const server = parseSmtpUrl(smtp_url)
  const ending = new AbortController()
  let transport: Promise<Transporter> | undefined
  return {
    configured: true,
    send: async (mail) => {
      const message = toMessage(mail, from)
      transport ??= openTransport(server)
      const deliver = async () => (await transport)?.sendMail(message)
      try {
        const { attempts_max = 3 } = mail
        await retry(deliver, { retry_ms, attempts_max, signal: ending.signal })
        mails.inc({ outcome: 'sent' })
      } catch (error) {
        mails.inc({ outcome: 'failed' })
        const reason = describeFailure(error, server)
        logger.warn({ smtp_host: server.host, smtp_port: server.port, reason }, 'a mail failed')
        throw new MailFailed(reason, responseCode(error))
      }
    },
    close: () => ending.abort(),
  }
}

const unconfigured: Mailer = {
  configured: false,
  send: () => Promise.reject(new MailFailed('no mail server is configured')),
  close: () => undefined,
}

const connect_ms_max = 10_000
const silent_ms_max = 20_000

async function openTransport(server: SmtpServer): Promise<Transporter> {
  const { createTransport } = await import('nodemailer')
  return createTransport({
    host: server.host,
    port: server.port,
    secure: server.tls === 'always',
    requireTLS: server.tls === 'starttls',
    tls: { rejectUnauthorized: server.tls !== 'optional', minVersion: 'TLSv1.2' },
    ...(server.auth !== undefined && { auth: server.auth }),
    connectionTimeout: connect_ms_max,
    greetingTimeout: connect_ms_max,
    socketTimeout: silent_ms_max,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
}

/** Characters that end a header, or that separate or quote addresses. */
const unsafeHeader = /[\p{Cc}\u2028\u2029]/u
const unsafeAddress = /[\s\p{Cc}<>(),;:"\\]/u

/** The identity of a mail. */
const messageId = /^[\w.+-]{1,200}@[\w.-]{1,200}$/

function toMessage({ to, subject, text, message_id, references = [] }: Mail, from: string) {
  const addresses = typeof to === 'string' ? [to] : to
  if (addresses.some((one) => unsafeAddress.test(one) || !one.includes('@'))) {
    throw new MailFailed('the address is not valid')
  }
  if (unsafeHeader.test(subject)) throw new MailFailed('the subject has a control character')
  const ids = [...references, ...(message_id === undefined ? [] : [message_id])]
  if (!ids.every((id) => messageId.test(id))) throw new MailFailed('an identity is not valid')
  return {
    from,
    to: addresses.map((address) => ({ name: '', address })),
    subject,
    text,
    headers: { 'auto-submitted': 'auto-generated' },
    ...(message_id !== undefined && { messageId: `<${message_id}>` }),
    ...(references.length > 0 && { references: references.map((id) => `<${id}>`) }),
  }
}

/** Tries up to `attempts_max` times, except when the server refuses for good (a code of 500 or more). */
async function retry(
  deliver: () => Promise<unknown>,
  options: { retry_ms: number; attempts_max: number; signal: AbortSignal },
): Promise<void> {
  const { retry_ms, attempts_max, signal } = options
  for (let attempt = 1; ; attempt += 1) {
    try {
      await deliver()
      return
    } catch (error) {
      const isFinal = (responseCode(error) ?? 0) >= 500 || attempt === attempts_max
      if (isFinal || signal.aborted) throw error
      await sleep(backOff({ base_ms: retry_ms, jitter: 0.5 }, attempt), signal)
    }
  }
}

function responseCode(error: unknown): number | undefined {
  const code = (error as { responseCode?: unknown } | null)?.responseCode
  return typeof code === 'number' ? code : undefined
}

/** Names the failure by codes only: an answer of the server may quote the login or the address. */
function describeFailure(error: unknown, { host, port }: SmtpServer): string {
  const { code } = (error ?? {}) as { code?: unknown }
  const parts = [code, responseCode(error)].filter((part) => part !== undefined)
  const codes = parts.length > 0 ? ` (${parts.join(' ')})` : ''
  return `the mail server ${host}:${port} did not accept the mail${codes}`
}

/** A mail server, from `smtp(s)://user:password@host:port`. */
type SmtpServer = {
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
