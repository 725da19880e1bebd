import { integer, url } from '../setting.ts'
import { minutes, seconds } from './units.ts'

/** PostgreSQL: metadata. */
export const relationalSettings = {
  postgres_url: url(['postgres', 'postgresql'], {
    unit: 'URL',
    reason: 'PostgreSQL 14 or later. Role `all` starts one of its own when unset.',
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
