import type { Clock } from '../../../kernel/time.ts'
import type { Mailer } from '../../../platform/mail/index.ts'
import type { Outbound } from '../../../platform/outbound/index.ts'
import type { IncidentDb } from '../ports.ts'

/** Dependencies of the routes of channels and deliveries. */
export type ChannelRoutesDeps = {
  db: IncidentDb
  clock: Clock
  secret_key: string
  outbound: Outbound
  mailer: Mailer
  /** Base URL of Slack's API; in tests a server of their own. */
  slack_api?: string | undefined
  /** Origin under which people open the service, for links. */
  public_url?: string | undefined
}

/** Who may read channels and deliveries. */
export const channelReads = {
  level: 'project',
  role: 'viewer',
  key: 'incidents:read',
  operator: true,
} as const
