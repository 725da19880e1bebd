import { type Problem, problem } from '../../../kernel/problem.ts'
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

/** Maximum channels of a project. */
export const channels_max = 100

/** Who may read channels and deliveries, and who may write channels. */
export const channelReads = {
  level: 'project',
  role: 'viewer',
  key: 'incidents:read',
  operator: true,
} as const
export const channelWrites = { level: 'project', role: 'admin', key: null, operator: true } as const

/** Returns the error for an id that no channel of the project has. */
export function channelNotFound(channel_id: string): Problem {
  return problem('channel_not_found', {
    detail: `channel_id: got "${channel_id.slice(0, 80)}", expected the id of a channel of this project`,
  })
}
