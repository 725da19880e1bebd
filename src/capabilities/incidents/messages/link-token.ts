import { createHmac, timingSafeEqual } from 'node:crypto'
import { deriveKey } from '../../../kernel/sealed-value.ts'
import { isEnd, type Message, type MessageLinks } from './message.ts'

/** The links of a message that answer its incident. */
export type ActionLinks = Pick<MessageLinks, LinkAction>

const lifetime_s = 7 * 24 * 3600

/**
 * Returns the links of a message that acknowledge, resolve and snooze its incident: none for an end,
 * and no acknowledgement of an acknowledged incident. The token is in the fragment, which browsers do
 * not send to servers, so that proxies do not log it.
 */
export function actionLinks(
  { id: message_id, message }: { id: string; message: Message },
  { public_url, secret_key }: { public_url: string; secret_key: string },
): ActionLinks {
  const { project_id, state } = message.incident
  if (isEnd(message.reason) || state === 'resolved') return {}
  const expires_s = Math.ceil(Date.parse(message.at) / 1000) + lifetime_s
  const link = (action: LinkAction) => {
    const token = signLink({ action, project_id, message_id, expires_s }, secret_key)
    return `${public_url.replace(/\/$/, '')}/incident#token=${token}`
  }
  return {
    ...(state === 'open' && { ack: link('ack') }),
    resolve: link('resolve'),
    snooze: link('snooze'),
  }
}

/** The move that a link of a message makes. The page asks for the length of a snooze. */
export const linkActions = ['ack', 'resolve', 'snooze'] as const
export type LinkAction = (typeof linkActions)[number]

/** The contents of a token. The message names the incident, and the channel that has the link. */
export type IncidentLink = {
  action: LinkAction
  project_id: string
  /** Id of the message in the outbox. */
  message_id: string
  /** Seconds since 1970. */
  expires_s: number
}

const prefix = 'lta_'
const version = 1
const idLength = 16
const textLength = 2 + 2 * idLength + 4
const macLength = 32
const tokenPattern = /^lta_[A-Za-z0-9_-]{94}$/

/** Finds tokens in the text of a receiver that quotes a message. */
export const tokensInText: RegExp = /lta_[A-Za-z0-9_-]+/g

/**
 * Signs a link: `lta_` and base64url of version (1 byte), action (1), project (16), message (16), end
 * (4), HMAC-SHA-256 (32) under a key that is derived from the secret of the service. The same link
 * has the same token, so that all attempts of a message send the same text.
 */
export function signLink(link: IncidentLink, secret_key: string): string {
  const text = Buffer.alloc(textLength)
  text.writeUInt8(version, 0)
  text.writeUInt8(linkActions.indexOf(link.action), 1)
  bytesOf(link.project_id).copy(text, 2)
  bytesOf(link.message_id).copy(text, 2 + idLength)
  text.writeUInt32BE(link.expires_s, 2 + 2 * idLength)
  return `${prefix}${Buffer.concat([text, macOf(text, secret_key)]).toString('base64url')}`
}

/** Reads a token; undefined for one that this service did not sign, or that has ended. */
export function readLink(
  token: string,
  { secret_key, now_ms }: { secret_key: string; now_ms: number },
): IncidentLink | undefined {
  if (!tokenPattern.test(token)) return undefined
  const bytes = Buffer.from(token.slice(prefix.length), 'base64url')
  // The last character has bits that say nothing.
  if (bytes.toString('base64url') !== token.slice(prefix.length)) return undefined
  const text = bytes.subarray(0, textLength)
  const mac = bytes.subarray(textLength)
  if (mac.length !== macLength || !timingSafeEqual(mac, macOf(text, secret_key))) return undefined
  const action = linkActions[text.readUInt8(1)]
  const expires_s = text.readUInt32BE(2 + 2 * idLength)
  if (text.readUInt8(0) !== version || action === undefined) return undefined
  if (expires_s * 1000 <= now_ms) return undefined
  const project_id = uuidOf(text.subarray(2, 2 + idLength))
  const message_id = uuidOf(text.subarray(2 + idLength, 2 + 2 * idLength))
  return { action, project_id, message_id, expires_s }
}

function macOf(text: Buffer, secret_key: string): Buffer {
  return createHmac('sha256', deriveKey(secret_key, 'incident links')).update(text).digest()
}

function bytesOf(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex')
}

function uuidOf(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
