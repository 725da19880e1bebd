/** Headers of one hop (RFC 9110, 7.6.1), and those that undici writes itself. */
const ofHop = [
  'accept-encoding',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'sec-websocket-extensions',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
] as const

/** Headers in which proxies in front name the client and our hosts. */
const ofClient = [
  'cf-connecting-ip',
  'cf-connecting-ipv6',
  'cf-pseudo-ipv4',
  'client-ip',
  'do-connecting-ip',
  'fastly-client-ip',
  'fly-client-ip',
  'forwarded',
  'true-client-ip',
  'x-appengine-user-ip',
  'x-azure-clientip',
  'x-azure-socketip',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-envoy-external-address',
  'x-nf-client-connection-ip',
  'x-original-forwarded-for',
  'x-original-host',
  'x-original-url',
  'x-real-ip',
  'x-vercel-forwarded-for',
] as const

/** Headers in which proxies in front pass on who has signed in there, and a token of the person. */
const ofPerson = [
  'cf-access-client-id',
  'cf-access-client-secret',
  'cf-access-jwt-assertion',
  'x-amzn-oidc-accesstoken',
  'x-amzn-oidc-data',
  'x-amzn-oidc-identity',
  'x-auth-request-access-token',
  'x-auth-request-email',
  'x-auth-request-groups',
  'x-auth-request-preferred-username',
  'x-auth-request-user',
  'x-goog-authenticated-user-email',
  'x-goog-authenticated-user-id',
  'x-goog-iap-jwt-assertion',
  'x-ms-client-principal',
  'x-ms-client-principal-id',
  'x-ms-client-principal-name',
  'x-ms-token-aad-access-token',
  'x-ms-token-aad-id-token',
] as const

/** Lower-case names of request headers that a provider does not get. Cookies are of our own pages. */
export const removedHeaders: readonly string[] = [
  ...['cookie', 'cookie2'],
  ...ofHop,
  ...ofClient,
  ...ofPerson,
]

/**
 * Returns whether a header is an X-Task- header, which is ours, or an X-Forwarded- header, known or
 * not, also with an underscore.
 */
export function isRemovedPrefix(name: string): boolean {
  // The bit of lower case is set, so that each letter is compared once.
  const third = name.charCodeAt(2) | 0x20
  return (third === letterT || third === letterF) && removedPrefix.test(name)
}

const letterT = 0x74
const letterF = 0x66
const removedPrefix = /^x[-_](?:task-|forwarded(?:[-_]|$))/i
