import { isUuid } from '../../kernel/ids.ts'
import { totalExactMax } from '../../kernel/pages.ts'
import { type Problem, type ProblemCode, problem } from '../../kernel/problem.ts'
import type { ManagedBy, ResourceName } from '../../model/managed-by.ts'
import { ownedBy, sql } from '../../platform/relational/index.ts'
import { type AnyDatabase, type DocumentRow, VersionedTable } from './versioned-table.ts'

/** Row of a document of which a project has several. */
export type NamedRow = DocumentRow & {
  id: string
  /** Only in tables of documents that have a name. */
  name?: string
  /** Only in tables of documents that a resource can declare. */
  managed_by?: ManagedBy | null
  created_at: string
  updated_at: string
  updated_by: string
}

/** Names a document. */
export type DocumentKey = { project_id: string; id: string }

/** Values of columns by which documents are chosen; undefined chooses any. */
export type DocumentFilter = {
  readonly managed_by?: ResourceName | undefined
  readonly [column: string]: ResourceName | string | boolean | undefined
}

/** The rows to read for a page, newest first: `limit` is one more than the page shows. */
export type DocumentPage = { before: string | undefined; limit: number }

/** A table of documents of which a project has several, each with an id. */
export class NamedTable<Row extends NamedRow> extends VersionedTable<Row> {
  /** Noun of a document, such as `saved query`. */
  readonly noun: string
  /** Name of its id in paths and errors, such as `saved_query_id`. */
  readonly id_name: string
  /** Code of the error for an id that no document of the project has. */
  readonly not_found: ProblemCode

  /** `json` are the columns of type `jsonb`. */
  constructor(
    name: string,
    {
      json,
      noun,
      not_found,
    }: { json: readonly (keyof Row)[]; noun: string; not_found: ProblemCode },
  ) {
    super(name, json)
    this.noun = noun
    this.id_name = `${noun.replaceAll(' ', '_')}_id`
    this.not_found = not_found
  }

  /** Returns a document. Throws `not_found`. */
  async read(db: AnyDatabase, { project_id, id }: DocumentKey): Promise<Row> {
    const row = isUuid(id) ? await this.findBy(db, project_id, { id }) : undefined
    if (row === undefined) throw this.notFound(id)
    return row
  }

  /**
   * Finds a document, and locks it against changes until the transaction ends. Other rows may still
   * refer to it, so that no two transactions wait for each other in a circle.
   */
  async lock(trx: AnyDatabase, { project_id, id }: DocumentKey): Promise<Row | undefined> {
    if (!isUuid(id)) return undefined
    const query = this.#select(trx, project_id, { id }).forNoKeyUpdate()
    return query.executeTakeFirst() as Promise<Row | undefined>
  }

  /** Returns the error for an id that no document of the project has. */
  notFound(id: string): Problem {
    const { noun, id_name } = this
    return problem(this.not_found, {
      detail: `${id_name}: got "${id.slice(0, 80)}", expected the id of a ${noun} of this project`,
    })
  }

  /** Finds the document that a filter chooses. */
  findBy(db: AnyDatabase, project_id: string, filter: DocumentFilter): Promise<Row | undefined> {
    return this.#select(db, project_id, filter).executeTakeFirst() as Promise<Row | undefined>
  }

  /** Returns a page of documents, newest first, and counts the ones that the filter chooses. */
  async select(
    db: AnyDatabase,
    project_id: string,
    { filter = {}, before, limit }: DocumentPage & { filter?: DocumentFilter },
  ): Promise<{ rows: Row[]; counted: number }> {
    const chosen = this.#select(db, project_id, filter)
    const rows = await chosen
      .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
      .orderBy('id', 'desc')
      .limit(limit)
      .execute()
    const { n } = await this.open(db)
      .selectFrom(chosen.limit(totalExactMax + 1).as('chosen'))
      .select(({ fn }) => fn.countAll<number>().as('n'))
      .executeTakeFirstOrThrow()
    return { rows: rows as unknown as Row[], counted: Number(n) }
  }

  /** Counts the documents of a project. */
  async count(db: AnyDatabase, project_id: string): Promise<number> {
    const { n } = await this.open(db)
      .selectFrom(this.name)
      .select(({ fn }) => fn.countAll<number>().as('n'))
      .where('project_id', '=', project_id)
      .executeTakeFirstOrThrow()
    return Number(n)
  }

  /** Inserts a document as version 1. */
  insert(trx: AnyDatabase, row: Partial<Row> & DocumentKey): Promise<Row> {
    const values = { ...this.encode<NamedRow>(row), version: 1 }
    const query = this.open<NamedRow>(trx).insertInto(this.name).values(values)
    return query.returningAll().executeTakeFirstOrThrow() as Promise<unknown> as Promise<Row>
  }

  /** Writes the next version of a document. */
  replace(trx: AnyDatabase, key: DocumentKey, columns: Partial<Row>): Promise<Row> {
    const next = { ...this.encode<NamedRow>(columns), version: this.nextVersion }
    const query = this.#update(trx, key).set(next).returningAll()
    return query.executeTakeFirstOrThrow() as Promise<unknown> as Promise<Row>
  }

  /** Removes the declaration of a document by a resource. Its version stays. */
  async release(trx: AnyDatabase, key: DocumentKey): Promise<void> {
    await this.#update(trx, key).set({ managed_by: null }).execute()
  }

  /** Deletes a document. */
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

  #update(trx: AnyDatabase, { project_id, id }: DocumentKey) {
    const query = this.open<NamedRow>(trx).updateTable(this.name)
    return query.where('project_id', '=', project_id).where('id', '=', id)
  }
}
