import { Semaphore } from '../../../../kernel/semaphore.ts'
import type { Clock } from '../../../../kernel/time.ts'
import type { Mailer } from '../../../../platform/mail/index.ts'
import type { AccessTables, Kysely } from '../../../../platform/relational/index.ts'
import { createQuietLog, type Logger } from '../../../../platform/telemetry/index.ts'
import { day_ms, linkUrl, maxMailsPerDay, mintLink } from '../../one-time-links.ts'
import { findLogin, type Login } from '../store.ts'
import { insertReset } from './store.ts'

/** A link that sets a new password once. It is shown once; only its hash is stored. */
type ResetLink = {
  token: string
  /** Page of the console that sets the password; null without `LOOPTRACE_PUBLIC_URL`. */
  url: string | null
  expires_at: string
}

/** Makes reset links, and sends them by mail. */
export type PasswordResets = {
  /**
   * Sends a link to the account with this (lower-case) e-mail, if there is one. Returns at once.
   */
  request(email: string): void
  /** Makes a link that an administrator passes on; undefined for an unknown user. */
  create(reset: { user_id: string; created_by: string | null }): Promise<ResetLink | undefined>
  /** Resolves when the mails that are in progress are sent. */
  close(): Promise<void>
}

export type PasswordResetOptions = {
  db: Kysely<AccessTables>
  clock: Clock
  logger: Logger
  mailer?: Mailer | undefined
  /** Origin of the links. It is never read from a request, whose Host header may be forged. */
  public_url?: string | undefined
}

/** Lifetime of a link. */
const ttl_ms = 30 * 60 * 1000
const running_max = 2
const waiting_max = 200

/** Creates the part that makes reset links. */
export function createPasswordResets(options: PasswordResetOptions): PasswordResets {
  const { db, clock, logger, mailer, public_url } = options
  const warn = createQuietLog(logger, clock, 60_000)
  const slots = new Semaphore({ permits_max: running_max, waiting: { max: waiting_max, refusal } })
  const running = new Set<Promise<void>>()
  const make = async (reset: {
    user_id: string
    created_by: string | null
    is_mailed: boolean
  }) => {
    const { token, ...stored } = mintLink(clock, { prefix: 'lt_reset_', ttl_ms })
    const { now, expires_at } = stored
    const isMade = await insertReset(db, {
      ...reset,
      ...stored,
      ...(reset.is_mailed && {
        limit: { since: new Date(now.getTime() - day_ms), count_max: maxMailsPerDay },
      }),
    })
    if (!isMade) return undefined
    const url = linkUrl(public_url, '/reset-password', token)
    return { token, url, expires_at: expires_at.toISOString() }
  }
  const mail = async (email: string) => {
    if (mailer === undefined || !mailer.configured) {
      warn('a password reset was requested, but no mail can be sent: set LOOPTRACE_SMTP_URL', {})
      return
    }
    const login = await findLogin(db, email)
    if (login === undefined || login.disabled_at !== null || signsInElsewhere(login)) return
    const link = await make({ user_id: login.id, created_by: null, is_mailed: true })
    if (link?.url != null)
      await mailer.send({ to: email, subject, text: resetText(email, link.url) })
  }
  return {
    request: (email) => {
      const sending = slots
        .run(() => mail(email))
        .catch((error: unknown) => {
          const reason = error instanceof Error ? error.message : String(error)
          warn('a reset link was not sent', { reason })
        })
        .finally(() => running.delete(sending))
      running.add(sending)
    },
    create: (reset) => make({ ...reset, is_mailed: false }),
    close: async () => {
      mailer?.close()
      await Promise.all(running)
    },
  }
}

function refusal(): Error {
  return new Error(`more than ${waiting_max} mails wait`)
}

const subject = 'Reset your Looptrace password'

function resetText(email: string, url: string): string {
  return `A new password was requested for the Looptrace account ${email}.

Open this link within 30 minutes to set it:

${url}

The link works once. If you did not request it, ignore this mail: your password
stays the same.
`
}

/** Whether a person has no password, and so signs in at the external issuer. */
function signsInElsewhere({ password_hash }: Login): boolean {
  return password_hash === null
}
