import type { ColumnarServer } from '../contract.ts'
import { quoteText } from './check-cluster.ts'

/**
 * Returns the servers of a cluster that lack tables of the database which others have, of those that
 * answer. A server that was added to the cluster lacks them all: the statements that create tables
 * went to the servers of their time.
 */
export async function findTableGaps(
  columnar: Pick<ColumnarServer, 'query' | 'database'>,
  cluster: string,
): Promise<string[]> {
  const rows = await columnar.query<{ host: string; tables: string[] }>(
    `SELECT host, groupUniqArrayIf(name, name != '') AS tables FROM (
       SELECT hostName() AS host, name FROM clusterAllReplicas(${quoteText(cluster)}, view(
         SELECT name FROM system.tables WHERE database = {database:String}
         UNION ALL SELECT ''
       ))
     ) GROUP BY host ORDER BY host`,
    { database: columnar.database },
  )
  const all = new Set(rows.flatMap(({ tables }) => tables))
  return rows.filter(({ tables }) => tables.length < all.size).map(({ host }) => host)
}
