import type { OutboundReply } from '../../../platform/outbound/index.ts'
import { encodeLogs, encodeRecord, readPartialSuccess } from './otlp-logs.ts'
import type { StreamReceiver } from './receiver.ts'

const media_type = 'application/x-protobuf'

/**
 * Returns a receiver of OTLP logs over HTTP, in protobuf.
 * https://opentelemetry.io/docs/specs/otlp/#otlphttp
 */
export function otlpReceiver(options: {
  /** The complete URL, with its path: `https://collector:4318/v1/logs`. */
  url: string
  headers: Readonly<Record<string, string>>
  /** Version of the service, for the resource. */
  version: string
}): StreamReceiver {
  const { url, headers, version } = options
  return {
    name: 'otlp',
    url,
    encode: encodeRecord,
    toMessage: (encoded) => ({
      body: encodeLogs(encoded.map(toBytes), version),
      headers: { 'content-type': media_type, 'user-agent': `looptrace/${version}`, ...headers },
    }),
    readRefused,
  }
}

function toBytes(encoded: string | Uint8Array): Uint8Array {
  return typeof encoded === 'string' ? Buffer.from(encoded) : encoded
}

/** A partial success must not be sent again: the receiver does not say which records it refused. */
function readRefused({ headers, body }: OutboundReply) {
  if (!String(headers['content-type'] ?? '').startsWith(media_type)) return undefined
  return readPartialSuccess(body)
}
