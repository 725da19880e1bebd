import { integer, secret, text, url } from '../setting.ts'
import { minutes, seconds } from './units.ts'

/** ClickHouse: observations. */
export const columnarSettings = {
  clickhouse_url: url(['http', 'https'], {
    unit: 'URL',
    reason: 'ClickHouse 25.3 or later. Role `all` starts an embedded one when unset.',
  }),
  clickhouse_username: text({ unit: 'name', default: 'default', reason: 'Account in ClickHouse.' }),
  clickhouse_password: secret({ reason: 'Its password.' }),
  clickhouse_database: text({
    unit: 'name',
    default: 'looptrace',
    reason: 'Database of our tables.',
  }),
  clickhouse_cluster: text({
    unit: 'name',
    reason: 'Cluster for replicated and distributed tables; a single server when unset.',
  }),
  clickhouse_timeout_ms: integer({
    unit: 'ms',
    default: 30 * seconds,
    min: 100,
    max: 10 * minutes,
    reason: 'A request to the store.',
  }),
  clickhouse_connections_max: integer({
    unit: 'connections',
    default: 10,
    min: 1,
    max: 200,
    reason: 'Connections of one process.',
  }),
}
