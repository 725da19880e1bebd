import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** Answers whether a request carries this user and password: basic auth or ClickHouse's headers. */
export function credentialsCheck(
  username: string,
  password: string,
): (request: IncomingMessage) => boolean {
  const expected = digest(`${username}:${password}`)
  return (request) => timingSafeEqual(digest(credentialsOf(request)), expected)
}

function credentialsOf({ headers }: IncomingMessage): string {
  const user = headers['x-clickhouse-user']
  if (user !== undefined) return `${user}:${headers['x-clickhouse-key'] ?? ''}`
  const [scheme, encoded = ''] = (headers.authorization ?? '').split(' ')
  if (scheme?.toLowerCase() !== 'basic') return ''
  return Buffer.from(encoded, 'base64').toString('utf8')
}

/** Equal lengths for the comparison, whatever came. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
