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
import { type Outbound, openOutbound, parseAllowedNetwork } from '../platform/outbound/index.ts'
import type { Wakes } from '../platform/relational/index.ts'
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

/** Opens the client of receivers: public addresses, and networks of LOOPTRACE_OUTBOUND_ALLOWED. */
export function openReceivers(config: Settings<'notification'>): Outbound {
  return openAllowed(config, [])
}

/**
 * Opens the client of the external issuer. It allows the configured host in any network, and
 * otherwise the addresses of receivers. Returns undefined without an issuer.
 */
export function openIssuerOutbound(
  config: Settings<'notification'> & { oidc_issuer?: string | undefined },
): Outbound | undefined {
  const { oidc_issuer } = config
  if (oidc_issuer === undefined) return undefined
  return openAllowed(config, [new URL(oidc_issuer).hostname.replace(/^\[|\]$/g, '')])
}

function openAllowed(
  { outbound_allowed = '' }: Settings<'notification'>,
  trusted_hosts: readonly string[],
): Outbound {
  const networks = outbound_allowed.split(',').map((network) => network.trim())
  try {
    const allowed = networks.filter((network) => network !== '').map(parseAllowedNetwork)
    return openOutbound({ allowed, trusted_hosts })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new ConfigError(`LOOPTRACE_OUTBOUND_ALLOWED: ${reason}`)
  }
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
