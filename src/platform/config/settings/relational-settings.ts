import { choice, integer, secret, text, url } from '../setting.ts'
import { minutes, seconds } from './units.ts'

/** PostgreSQL: metadata. */
export const relationalSettings = {
  postgres_url: url(['postgres', 'postgresql'], {
    unit: 'URL',
    reason:
      'PostgreSQL 14 or later, whole; or its parts, below. Role `all` starts one of its own when both are unset.',
  }),
  postgres_host: text({
    unit: 'host',
    reason: 'Where it is, when the address comes in parts: a password then needs no escapes.',
  }),
  postgres_port: integer({
    unit: 'port',
    default: 5432,
    min: 1,
    max: 65_535,
    reason: 'Its port, with the host.',
  }),
  postgres_database: text({
    unit: 'name',
    default: 'looptrace',
    reason: 'Database of our tables, with the host.',
  }),
  postgres_username: text({
    unit: 'name',
    default: 'looptrace',
    reason: 'Account, with the host.',
  }),
  postgres_password: secret({ reason: 'Its password, with the host.' }),
  postgres_ssl_mode: choice(['disable', 'require', 'verify-full'], {
    unit: 'mode',
    default: 'require',
    reason: 'With the host: `require` encrypts, `verify-full` also checks whose certificate it is.',
  }),
  postgres_ca_file: text({
    unit: 'path',
    reason: 'Certificate authority for `verify-full`; the public ones when unset.',
  }),
  postgres_pool_max: integer({
    unit: 'connections',
    default: 10,
    min: 2,
    max: 200,
    reason: 'Connections of one process.',
  }),
  postgres_connect_timeout_ms: integer({
    unit: 'ms',
    default: 5 * seconds,
    min: 100,
    max: minutes,
    reason: 'A request must not hang when the server is gone.',
  }),
  postgres_statement_timeout_ms: integer({
    unit: 'ms',
    default: 30 * seconds,
    min: 100,
    max: 10 * minutes,
    reason: 'No statement of a request or a batch should take longer.',
  }),
}
