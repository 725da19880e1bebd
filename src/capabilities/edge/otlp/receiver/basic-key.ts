/** Maximum characters of the encoded credentials: those of a key and a user name are far fewer. */
const characters_max = 4_096

/**
 * Returns the project key in an `Authorization: Basic …`: the password, which is the secret key of
 * Langfuse's SDKs, or the user name. Returns undefined for any other credentials, such as those for
 * a gateway.
 */
export function keyInBasic(authorization: string): string | undefined {
  if (authorization.length > characters_max) return undefined
  const encoded = /^basic +([\w+/-]+={0,2}) *$/i.exec(authorization)?.[1]
  if (encoded === undefined) return undefined
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  const [user, password] = colon === -1 ? [text, ''] : [text.slice(0, colon), text.slice(colon + 1)]
  return [password, user].find((value) => /^lt_\S+$/.test(value))
}
