import { createHmac } from 'node:crypto'

/**
 * Returns the headers that sign a Standard Webhook: one signature for each secret that is not
 * empty. `id` must be equal in all attempts to send the same message.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function signWebhook(webhook: {
  id: string
  body: string | Uint8Array
  now_ms: number
  secrets: readonly string[]
}): Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string> {
  const { id, body, secrets } = webhook
  const timestamp = String(Math.floor(webhook.now_ms / 1000))
  const sign = (secret: string) => {
    const hmac = createHmac('sha256', signingBytes(secret))
    return `v1,${hmac.update(`${id}.${timestamp}.`).update(body).digest('base64')}`
  }
  const signatures = secrets.filter((secret) => secret !== '').map(sign)
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
}

/** Returns the bytes of a signing secret: base64 after `whsec_`. */
export function signingBytes(secret: string): Buffer {
  return Buffer.from(secret.slice('whsec_'.length), 'base64')
}
