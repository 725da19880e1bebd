import {
  defaultStreamLimits,
  otlpReceiver,
  type StreamLimits,
  type StreamReceiver,
  streamChores,
  webhookReceiver,
} from '../capabilities/audit/index.ts'
import type { Chore } from '../capabilities/jobs/index.ts'
import { ConfigError, type Settings, version } from '../platform/config/index.ts'
import { signingBytes } from '../platform/outbound/index.ts'
import { openReceivers } from './outbound.ts'
import type { RoleContext } from './running.ts'
import type { Stores } from './stores.ts'

/** Opens the streams of audit records to receivers outside of the service. */
export function openAuditStreams(
  { clock, logger, metrics }: Pick<RoleContext, 'clock' | 'logger' | 'metrics'>,
  config: Settings<'audit' | 'notification'>,
  { db, limits }: Pick<Stores, 'db'> & { limits?: Partial<StreamLimits> },
): { names: string[]; chores: Chore[] } {
  const receivers = [...openWebhook(config), ...openOtlp(config)]
  if (receivers.length === 0) return { names: [], chores: [] }
  const chores = streamChores({
    db,
    receivers,
    clock,
    logger,
    metrics,
    outbound: openReceivers(config),
    limits: { ...defaultStreamLimits, ...limits },
  })
  return { names: receivers.map(({ name }) => name), chores }
}

function openWebhook(config: Settings<'audit'>): StreamReceiver[] {
  const { audit_stream_webhook_url: url, audit_stream_webhook_secret: secret } = config
  if (url === undefined) return []
  const bytes = secret?.startsWith('whsec_') ? signingBytes(secret).length : 0
  if (secret === undefined || bytes < 24 || bytes > 64) {
    const got = secret === undefined ? 'missing' : 'got (a secret)'
    throw new ConfigError(
      `LOOPTRACE_AUDIT_STREAM_WEBHOOK_SECRET: ${got}, expected \`whsec_\` and 24 to 64 bytes as base64`,
    )
  }
  const setting = 'LOOPTRACE_AUDIT_STREAM_WEBHOOK_HEADERS'
  const headers = readHeaders(setting, config.audit_stream_webhook_headers)
  return [webhookReceiver({ url, secret, headers })]
}

function openOtlp(config: Settings<'audit'>): StreamReceiver[] {
  const { audit_stream_otlp_url: url } = config
  if (url === undefined) return []
  const setting = 'LOOPTRACE_AUDIT_STREAM_OTLP_HEADERS'
  const headers = readHeaders(setting, config.audit_stream_otlp_headers)
  return [otlpReceiver({ url, headers, version })]
}

const headerName = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}$/
const headerValue = /^[\x20-\x7e]{1,4096}$/

/** Reads `name=value,name=value` with URL-encoded values, without quoting them in an error. */
function readHeaders(setting: string, text = ''): Record<string, string> {
  const pairs = text.split(',').map((pair) => pair.trim())
  const headers = pairs
    .filter((pair) => pair !== '')
    .map((pair) => {
      const [name = '', ...rest] = pair.split('=')
      const value = decode(rest.join('=').trim())
      if (headerName.test(name.trim()) && value !== undefined && headerValue.test(value)) {
        return [name.trim().toLowerCase(), value]
      }
      throw new ConfigError(
        `${setting}: got (a secret), expected name=value pairs separated by commas, with URL-encoded values`,
      )
    })
  return Object.fromEntries(headers)
}

function decode(value: string): string | undefined {
  try {
    return decodeURIComponent(value)
  } catch {
    return undefined
  }
}
