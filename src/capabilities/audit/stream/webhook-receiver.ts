import { signWebhook } from '../../../platform/outbound/index.ts'
import type { StreamReceiver } from './receiver.ts'

/**
 * Returns a receiver of Standard Webhooks:
 * `{type: "audit.records", timestamp, data: {records: […]}}`.
 */
export function webhookReceiver(options: {
  url: string
  /** Signing secret, `whsec_…`. */
  secret: string
  /** Further headers, such as `authorization`. */
  headers: Readonly<Record<string, string>>
}): StreamReceiver {
  const { url, secret, headers } = options
  return {
    name: 'webhook',
    url,
    encode: (record) => JSON.stringify(record),
    toMessage: (encoded, { id, now_ms }) => {
      const timestamp = JSON.stringify(new Date(now_ms).toISOString())
      const body = `{"type":"audit.records","timestamp":${timestamp},"data":{"records":[${encoded.join(',')}]}}`
      return {
        body,
        headers: {
          'content-type': 'application/json',
          'user-agent': 'looptrace-webhooks/1',
          ...headers,
          ...signWebhook({ id, body, now_ms, secrets: [secret] }),
        },
      }
    },
  }
}
