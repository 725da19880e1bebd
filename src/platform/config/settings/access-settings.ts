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
  bootstrap_project_id: text({
    unit: 'UUID',
    reason: 'Id of the first project; a new one is made when unset.',
  }),
  bootstrap_project_key: secret({
    min_characters: 44,
    reason: 'Key of the first project, `lt_…`; a random one is made and shown once when unset.',
  }),
  bootstrap_secret: text({
    unit: 'namespace/name',
    reason:
      'Secret of the cluster that `migrate` keeps the first login and the shared keys in: it makes it when it is not there, and takes what is in it.',
  }),
}
