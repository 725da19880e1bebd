import { type AnyDatabase, type DocumentRow, VersionedTable } from './versioned-table.ts'

/** Row of a document of which each project has one, with its last change. */
export type ProjectRow = DocumentRow & { updated_at: string; updated_by: string | null }

/** The columns of a document's own. */
export type OwnColumns<Row extends ProjectRow> = Omit<Row, keyof ProjectRow>

/** The document in effect: the stored one, or version 0 with the defaults. */
export type EffectiveDocument<Row extends ProjectRow> = OwnColumns<Row> &
  DocumentRow &
  Record<'updated_at' | 'updated_by', string | null>

/** A table of documents of which each project has one. Until a project sets it, `defaults` apply. */
export class ProjectTable<Row extends ProjectRow> extends VersionedTable<Row> {
  readonly #defaults: OwnColumns<Row>

  /** `json` are the columns of type `jsonb`. */
  constructor(
    name: string,
    { json, defaults }: { json: readonly (keyof Row)[]; defaults: OwnColumns<Row> },
  ) {
    super(name, json)
    this.#defaults = defaults
  }

  /** Finds the document of a project; undefined when it has set none. */
  find(db: AnyDatabase, project_id: string): Promise<Row | undefined> {
    const query = this.open(db).selectFrom(this.name).selectAll()
    const row = query.where('project_id', '=', project_id).executeTakeFirst()
    return row as Promise<Row | undefined>
  }

  /** Returns the document in effect in a project. */
  async read(db: AnyDatabase, project_id: string): Promise<EffectiveDocument<Row>> {
    const stored = await this.find(db, project_id)
    return stored ?? { ...this.#defaults, ...notSet, project_id }
  }

  /**
   * Writes the document of a project if the stored version is `version` (0: none; undefined: any).
   * Returns undefined when another version is stored.
   */
  write(db: AnyDatabase, columns: Omit<Row, 'version'>): Promise<Row>
  write(db: AnyDatabase, columns: Omit<Row, 'version'>, version?: number): Promise<Row | undefined>
  write(db: AnyDatabase, columns: object, version?: number): Promise<Row | undefined> {
    const row = this.encode<DocumentRow>(columns as Partial<Row>)
    const next = { ...row, version: this.nextVersion }
    const table = this.open(db)
    const query =
      version === undefined || version === 0
        ? table
            .insertInto(this.name)
            .values({ ...row, version: 1 })
            .onConflict((conflict) => {
              const stored = conflict.column('project_id')
              return version === 0 ? stored.doNothing() : stored.doUpdateSet(next)
            })
        : table
            .updateTable(this.name)
            .set(next)
            .where('project_id', '=', row.project_id)
            .where('version', '=', version)
    return query.returningAll().executeTakeFirst() as Promise<Row | undefined>
  }
}

const notSet = { version: 0, updated_at: null, updated_by: null }
