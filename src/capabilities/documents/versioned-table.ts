import { type Kysely, sql } from '../../platform/relational/index.ts'

/** Columns of the row of every document. The first version is 1. */
export type DocumentRow = { project_id: string; version: number }

/** A database with any tables. */
export type AnyDatabase = Pick<Kysely<never>, 'executeQuery' | 'isTransaction'>

/** The name of any table of documents for the types of statements. */
type TableName = 'documents'

/** A table of versioned documents. `Row` is a row as it is read. */
export abstract class VersionedTable<Row extends DocumentRow> {
  readonly name: TableName
  readonly #json: readonly (keyof Row)[]

  constructor(name: string, json: readonly (keyof Row)[]) {
    this.name = name as TableName
    this.#json = json
  }

  /** Types a database for statements, which know the common columns of documents only. */
  protected open<Columns extends object = DocumentRow>(db: AnyDatabase) {
    return db as unknown as Kysely<Record<TableName, Columns>>
  }

  /** The version after the stored one. */
  protected get nextVersion() {
    return sql<number>`${sql.ref(`${this.name}.version`)} + 1`
  }

  /** Encodes columns of type `jsonb` as text, because pg turns lists into SQL arrays. */
  protected encode<Columns extends object>(columns: Partial<Row>): Columns {
    const encoded = this.#json
      .filter((column) => columns[column] != null)
      .map((column) => [column, JSON.stringify(columns[column])] as const)
    return { ...columns, ...Object.fromEntries(encoded) } as unknown as Columns
  }
}
