import type { Mailer } from '../../../../platform/mail/index.ts'
import type { Outbound } from '../../../../platform/outbound/index.ts'
import type { AttemptResult } from '../../messages/delivery.ts'
import type { Message } from '../../messages/message.ts'
import type { ChannelType, Section, Templates } from '../channel.ts'

/** A channel with its secrets. It must not be logged. */
export type OpenChannel = {
  channel_id: string
  name: string
  type: ChannelType
  section: Section
  templates: Templates
}

/** A message to send. */
export type Outgoing = {
  /** Id of the message: equal in all attempts and re-sends. */
  id: string
  message: Message
  /** Identity of the incident at the receiver; null before the first message. */
  thread: string | null
  /** True for a message that tests the channel, which belongs to no incident. */
  is_test?: true
}

/** The way to receivers. */
export type SenderPorts = {
  outbound: Outbound
  mailer: Mailer
  /** Time for the header of signatures and the end of alerts, ms since 1970. */
  now_ms: number
  signal: AbortSignal
  /** Base URL of Slack's API; in tests a server of their own. */
  slack_api?: string | undefined
  /** Time of a request; 10 s by default. */
  timeout_ms?: number | undefined
}

/** The outcome of one attempt. */
export type Sent = {
  result: AttemptResult | { refused: string }
  /** Why it was not delivered, for people; null for a delivery. */
  error: string | null
  /** The exact reason for the operator's log, when `error` hides it from people. */
  log?: string
  /** Body of the receiver's answer. */
  response: string
  /** New identities at the receiver, by incident. */
  threads?: ReadonlyMap<string, string>
}

/** Sends messages of one rule to a channel, in one attempt. Never rejects for a receiver. */
export type Send = (
  messages: readonly Outgoing[],
  channel: OpenChannel,
  ports: SenderPorts,
) => Promise<Sent>

/** Returns a text field of a section; '' if it is not set. */
export function fieldOf({ section }: OpenChannel, field: string): string {
  const value = section[field]
  return typeof value === 'string' ? value : ''
}
