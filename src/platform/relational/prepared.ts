import type { CompiledQuery, Kysely, RootOperationNode } from 'kysely'

/** The node of a query that sessions keep under a name. */
type NamedNode = RootOperationNode & { readonly statement_name?: string }

/**
 * Returns a database whose statement each session of the pool keeps under the name, so that PostgreSQL
 * parses it once, and after five runs also plans it once, for any values. For statements of hot paths
 * whose text is always the same and whose best plan does not depend on the values. Behind a pooler, which has no
 * sessions, it runs as any other statement.
 */
export function prepared<DB>(db: Kysely<DB>, name: string): Kysely<DB> {
  return db.withPlugin({
    transformQuery: ({ node }) => ({ ...node, statement_name: name }),
    transformResult: async ({ result }) => result,
  })
}

/** Returns the name under which sessions keep a query; undefined for others. */
export function statementName({ query }: CompiledQuery): string | undefined {
  const node: NamedNode = query
  return node.statement_name
}
