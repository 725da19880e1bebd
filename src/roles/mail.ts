import { ConfigError, type RoleConfig } from '../platform/config/index.ts'
import { type Mailer, openMailer, SmtpUrlRefused } from '../platform/mail/index.ts'
import type { RoleContext } from './running.ts'

type MailConfig = Pick<RoleConfig<'api'>, 'smtp_url' | 'mail_from' | 'public_url'>

/** Opens the mailer of the settings. Throws ConfigError when they are incomplete or invalid. */
export function openConfiguredMailer(
  { logger, metrics }: Pick<RoleContext, 'logger' | 'metrics'>,
  { smtp_url, mail_from: from, public_url }: MailConfig,
): Mailer {
  if (smtp_url !== undefined && (from === undefined || public_url === undefined)) {
    const name = from === undefined ? 'LOOPTRACE_MAIL_FROM' : 'LOOPTRACE_PUBLIC_URL'
    throw new ConfigError(`${name}: missing, LOOPTRACE_SMTP_URL requires it`)
  }
  try {
    return openMailer({ smtp_url, from, logger, metrics })
  } catch (error) {
    if (!(error instanceof SmtpUrlRefused)) throw error
    throw new ConfigError(`LOOPTRACE_SMTP_URL: got (a secret), ${error.message}`)
  }
}
