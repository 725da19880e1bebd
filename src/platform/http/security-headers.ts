/**
 * Headers of every response that the service itself writes. They forbid type sniffing, Referer,
 * embedding, window handles and caching. A response may replace a header: pages have their own
 * policy, and static files may be cached.
 */
export const securityHeaders = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const

/** The same headers as name, value, name, value, for responses that are written to the socket. */
export const securityHeaderList: readonly string[] = Object.entries(securityHeaders).flat()

/** Browser features that HTML pages must not use. */
const unusedFeatures = [
  ...['accelerometer', 'autoplay', 'browsing-topics', 'camera', 'display-capture'],
  ...['encrypted-media', 'fullscreen', 'gamepad', 'geolocation', 'gyroscope', 'hid'],
  ...['idle-detection', 'local-fonts', 'magnetometer', 'microphone', 'midi', 'payment'],
  ...['picture-in-picture', 'publickey-credentials-create', 'publickey-credentials-get'],
  ...['screen-wake-lock', 'serial', 'usb', 'window-management', 'xr-spatial-tracking'],
]

/** Further headers of HTML pages. */
export const htmlHeaders = {
  'cross-origin-embedder-policy': 'require-corp',
  'permissions-policy': unusedFeatures.map((feature) => `${feature}=()`).join(', '),
} as const

/** Where clients reach the server, as far as it decides about Strict-Transport-Security. */
export type PublicAddress = {
  /** Origin under which people open Looptrace. */
  public_url?: string | undefined
  /** Seconds for which browsers use HTTPS only; 0 sends no header. */
  hsts_max_age_s?: number
}

/** The part of a request that tells whether its connection was encrypted. */
type Connection = { protocol: string; headers: Readonly<Record<string, unknown>> }

/**
 * Creates the headers of responses of the API. With an HTTPS public URL, they have
 * Strict-Transport-Security (RFC 6797), except when a proxy says that the client uses plain HTTP.
 * Subdomains are not included, because they may belong to others.
 */
export function createSecurityHeaders({
  public_url,
  hsts_max_age_s = 0,
}: PublicAddress = {}): (connection: Connection) => Record<string, string> {
  if (hsts_max_age_s === 0 || public_url?.startsWith('https://') !== true) {
    return () => securityHeaders
  }
  const overHttps = {
    ...securityHeaders,
    'strict-transport-security': `max-age=${hsts_max_age_s}`,
  }
  return ({ protocol, headers }) => {
    const isPlain = headers['x-forwarded-proto'] !== undefined && protocol !== 'https'
    return isPlain ? securityHeaders : overHttps
  }
}
