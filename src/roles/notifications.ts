import {
  alertsAgainMs,
  defaultSenderSettings,
  deleteOldDeliveries,
  notificationMeters,
  openExamples,
  refreshAlerts,
  startNotifications,
} from '../capabilities/incidents/index.ts'
import type { Chore } from '../capabilities/jobs/index.ts'
import { ConfigError, type Settings } from '../platform/config/index.ts'
import { type Mailer, openMailer, SmtpUrlRefused } from '../platform/mail/index.ts'
import type { Wakes } from '../platform/relational/index.ts'
import { openReceivers } from './outbound.ts'
import type { RoleContext } from './running.ts'
import type { Stores } from './stores.ts'

const hour_ms = 3_600_000

/**
 * Starts delivering messages about incidents, until the role ends. `wakeSender` delivers the
 * messages of a transaction that just ended; without it they wait for at most a second.
 */
export function openNotifications(
  context: Pick<RoleContext, 'logger' | 'metrics' | 'parts'>,
  config: Settings<'secret' | 'notification' | 'mail'>,
  { db, relational, columnar, mailer, wakes }: SenderStores,
): { wakeSender: () => void; handlers: []; chores: Chore[] } {
  const sender = {
    db,
    mailer,
    logger: context.logger,
    random: Math.random,
    outbound: openReceivers(config),
    meters: notificationMeters(context.metrics),
    settings: { ...defaultSenderSettings, secret_key: config.secret_key },
    examples: openExamples({ columnar, relational, logger: context.logger }),
    public_url: config.public_url,
    wakes,
  }
  const notifications = startNotifications(sender)
  context.parts.defer(() => notifications.stop())
  return {
    wakeSender: () => notifications.wake(),
    handlers: [],
    chores: [
      {
        name: 'delete old deliveries',
        every_ms: hour_ms,
        reason: 'deletes what is old in all projects',
        run: (signal) => deleteOldDeliveries(db, signal),
      },
      {
        name: 'send alerts again',
        every_ms: alertsAgainMs,
        reason: 'sends alerts that still fire in all projects again',
        run: (signal) => refreshAlerts(sender, signal),
      },
    ],
  }
}

type SenderStores = Pick<Stores, 'db' | 'relational' | 'columnar'> & {
  mailer: Mailer
  wakes?: Wakes
}

/** Opens the mailer of the settings. Throws ConfigError when they are incomplete or invalid. */
export function openConfiguredMailer(
  { logger, metrics }: Pick<RoleContext, 'logger' | 'metrics'>,
  { smtp_url, mail_from: from, public_url }: Settings<'mail'>,
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
