import { z } from 'zod'
import { isUuid } from '../../kernel/ids.ts'
import { type Problem, type ProblemCode, problem } from '../../kernel/problem.ts'
import type { IdPage } from '../../model/id-pages.ts'
import type { ManagedBy, ResourceName } from '../../model/managed-by.ts'
import { countUpTo, ownedBy, sql } from '../../platform/relational/index.ts'
import { type AnyDatabase, type DocumentRow, VersionedTable } from './versioned-table.ts'

/** Row of a document of which a project has several. */
export type NamedRow = DocumentRow & {
  id: string
  /** Only in tables of documents that have a name. */
  name?: string
  /** Only in tables of documents that a resource can declare. */
  managed_by?: ManagedBy | null
  /** Not in tables of versions. */
  created_at?: string
  updated_at: string
  updated_by: string
}

/** Names a document. */
export type DocumentKey = { project_id: string; id: string }

/** Values of columns by which documents are chosen; undefined chooses any. */
export type DocumentFilter = {
  readonly managed_by?: ResourceName | undefined
  readonly [column: string]: ResourceName | string | number | boolean | undefined
}

/** Declares a table of documents. */
export type NamedTableOptions<Row> = {
  /** Columns of type `jsonb`. */
  json: readonly (keyof Row)[]
  /** Noun of a document, such as `saved query`. */
  noun: string
  /** Code of the error for an id that no document of the project has. */
  not_found: ProblemCode
  /** Schema of ids that authors choose; their lists are sorted by id. Other ids are UUIDs. */
  chosen_id?: z.ZodType<string>
  /** Table that keeps each version of a document, also of a deleted one, with these columns. */
  versions?: { table: string; columns: readonly (keyof Row & string)[]; versions_max: number }
  /** Order of a list, by a unique column. Default: `id`, newest first, or chosen ids ascending. */
  order?: readonly ['id' | 'version', 'asc' | 'desc']
}

/** A table of documents of which a project has several, each with an id. */
export class NamedTable<Row extends NamedRow> extends VersionedTable<Row> {
  readonly options: NamedTableOptions<Row>
  /** Name of an id in paths and errors, such as `saved_query_id`. */
  readonly id_name: string
  /** The path parameters of one document: its id. */
  readonly path: z.ZodObject<Record<string, z.ZodType<string>>>

  constructor(name: string, options: NamedTableOptions<Row>) {
    super(name, options.json)
    this.options = options
    this.id_name = `${options.noun.replaceAll(' ', '_')}_id`
    const { noun, chosen_id = z.string() } = options
    this.path = z.strictObject({ [this.id_name]: chosen_id.describe(`Id of the ${noun}.`) })
  }

  /** Returns the id among path parameters. */
  idIn(params: Record<string, string>): string {
    return params[this.id_name] ?? ''
  }

  /** Whether a document can have the id. */
  isId(id: string): boolean {
    return this.options.chosen_id?.safeParse(id).success ?? isUuid(id)
  }

  /** Returns a document. Throws `not_found`. */
  async read(db: AnyDatabase, { project_id, id }: DocumentKey): Promise<Row> {
    const row = this.isId(id) ? await this.findBy(db, project_id, { id }) : undefined
    if (row === undefined) throw this.notFound(id)
    return row
  }

  /**
   * Finds a document, and locks it against changes until the transaction ends. Other rows may still
   * refer to it, so that no two transactions wait for each other in a circle.
   */
  async lock(trx: AnyDatabase, { project_id, id }: DocumentKey): Promise<Row | undefined> {
    if (!this.isId(id)) return undefined
    const query = this.#select(trx, project_id, { id }).forNoKeyUpdate()
    return query.executeTakeFirst() as Promise<Row | undefined>
  }

  /** Returns the error for an id that no document of the project has. */
  notFound(id: string): Problem {
    const { not_found, noun } = this.options
    return problem(not_found, {
      detail: `${this.id_name}: got "${id.slice(0, 80)}", expected the id of a ${noun} of this project`,
    })
  }

  /** Finds the document that a filter chooses. */
  findBy(db: AnyDatabase, project_id: string, filter: DocumentFilter): Promise<Row | undefined> {
    return this.#select(db, project_id, filter).executeTakeFirst() as Promise<Row | undefined>
  }

  /** Returns a page of documents, and counts the ones that the filter chooses. */
  async select(
    db: AnyDatabase,
    project_id: string,
    { filter = {}, after, limit, count_max }: IdPage & { filter?: DocumentFilter },
  ): Promise<{ rows: Row[]; counted: number }> {
    const chosen = this.#select(db, project_id, filter)
    const { chosen_id, order = ['id', chosen_id ? 'asc' : 'desc'] } = this.options
    const [column, direction] = order
    const rows = await chosen
      .$if(after !== undefined, (query) =>
        query.where(column, direction === 'asc' ? '>' : '<', after ?? ''),
      )
      .orderBy(column, direction)
      .limit(limit)
      .execute()
    const counted = await countUpTo(this.open(db), chosen, count_max)
    return { rows: rows as unknown as Row[], counted }
  }

  /** Counts the documents of a project, up to a maximum. */
  count(db: AnyDatabase, project_id: string, count_max: number): Promise<number> {
    return countUpTo(this.open(db), this.#select(db, project_id, {}), count_max)
  }

  /** Returns the version of a new document, which is 1 unless versions of its id are kept. */
  async firstVersion(trx: AnyDatabase, { project_id, id }: DocumentKey): Promise<number> {
    const { versions } = this.options
    if (versions === undefined) return 1
    const { rows } = await sql<{ version: number }>`
      select coalesce(max(version), 0) + 1 as version from ${sql.table(versions.table)}
      where project_id = ${project_id} and id = ${id}`.execute(this.open(trx))
    return rows[0]?.version ?? 1
  }

  /** Inserts a document. */
  async insert(trx: AnyDatabase, row: Partial<Row> & DocumentKey & DocumentRow): Promise<Row> {
    const values = this.encode<NamedRow>(row)
    const query = this.open<NamedRow>(trx).insertInto(this.name).values(values).returningAll()
    return this.#keepVersion(trx, (await query.executeTakeFirstOrThrow()) as unknown as Row)
  }

  /** Writes the next version of a document. */
  async replace(trx: AnyDatabase, key: DocumentKey, columns: Partial<Row>): Promise<Row> {
    const next = { ...this.encode<NamedRow>(columns), version: this.nextVersion }
    const query = this.#update(trx, key).set(next).returningAll()
    return this.#keepVersion(trx, (await query.executeTakeFirstOrThrow()) as unknown as Row)
  }

  /** Sets or removes the resource that declares a document. Its version stays. */
  async setOwner(trx: AnyDatabase, key: DocumentKey, managed_by: ManagedBy | null): Promise<void> {
    const columns = this.encode<NamedRow>({ managed_by } as Partial<Row>)
    await this.#update(trx, key).set(columns).execute()
  }

  /** Deletes a document. Versions that are kept remain. */
  async delete(trx: AnyDatabase, { project_id, id }: DocumentKey): Promise<void> {
    const query = this.open<NamedRow>(trx).deleteFrom(this.name)
    await query.where('project_id', '=', project_id).where('id', '=', id).execute()
  }

  /**
   * Does work that changes the documents of a project, in a transaction. Changes of one project
   * wait for each other, so that two of them cannot exceed a limit, or take one name.
   */
  change<Db extends AnyDatabase, Result>(
    db: Db,
    project_id: string,
    work: (trx: Db) => Promise<Result>,
  ): Promise<Result> {
    return this.open(db)
      .transaction()
      .execute(async (trx) => {
        const lock = `looptrace.${this.name} ${project_id}`
        await sql`select pg_advisory_xact_lock(hashtextextended(${lock}, 0))`.execute(trx)
        return work(trx as unknown as Db)
      })
  }

  #select(db: AnyDatabase, project_id: string, { managed_by, ...columns }: DocumentFilter) {
    const query = this.open<NamedRow>(db)
      .selectFrom(this.name)
      .selectAll()
      .where('project_id', '=', project_id)
    const chosen = managed_by === undefined ? query : query.where(ownedBy(managed_by))
    return Object.entries(columns)
      .filter(([, value]) => value !== undefined)
      .reduce((all, [column, value]) => {
        return all.where(sql<boolean>`${sql.ref(column)} = ${value}`)
      }, chosen)
  }

  /** Copies the stored version to the table of versions, if there is one. */
  async #keepVersion(trx: AnyDatabase, row: Row): Promise<Row> {
    if (this.options.versions === undefined) return row
    const { table, columns } = this.options.versions
    const all = ['project_id', 'id', 'version', 'updated_at', 'updated_by', ...columns]
    const names = sql.join(all.map((column) => sql.ref(column)))
    await sql`insert into ${sql.table(table)} (${names}) select ${names} from ${sql.table(this.name)}
      where project_id = ${row.project_id} and id = ${row.id}`.execute(this.open(trx))
    return row
  }

  #update(trx: AnyDatabase, { project_id, id }: DocumentKey) {
    const query = this.open<NamedRow>(trx).updateTable(this.name)
    return query.where('project_id', '=', project_id).where('id', '=', id)
  }
}
