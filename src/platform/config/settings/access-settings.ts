import { integer, secret, text, url } from '../setting.ts'
import { hours, minutes } from './units.ts'

/** Sign-in and keys. */
export const accessSettings = {
  secret_key: secret({
    min_characters: 32,
    reason:
      'Encrypts the token-signing keys at rest; the same in every pod. Role `all` makes one in its data directory.',
  }),
  token_issuer: text({
    unit: 'URL',
    default: 'looptrace',
    reason: '`iss` of our access tokens.',
  }),
  token_ttl_ms: integer({
    unit: 'ms',
    default: hours,
    min: minutes,
    max: hours,
    reason: 'Life of an access token; roles are read from the store anyway.',
  }),
  oidc_issuer: url(['https', 'http'], {
    unit: 'URL',
    reason: 'An external issuer whose tokens are taken too.',
  }),
  oidc_audience: text({ unit: 'text', reason: '`aud` that its tokens must have.' }),
  bootstrap_email: text({
    unit: 'e-mail',
    default: 'admin@looptrace.local',
    reason: 'Login of the first administrator.',
  }),
  bootstrap_password: secret({
    min_characters: 12,
    reason: 'Password of the first administrator; a random one is made and shown once when unset.',
  }),
}
