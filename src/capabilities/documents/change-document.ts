import { canonicalJson } from '../../kernel/canonical-json.ts'
import { type Problem, problem } from '../../kernel/problem.ts'
import { type ManagedBy, type ResourceName, refuseUnlessOwner } from '../../model/managed-by.ts'
import { assertVersion, type RequestHeaders } from '../../platform/http/index.ts'
import type { DocumentFilter, DocumentKey, NamedRow, NamedTable } from './named-table.ts'
import type { AnyDatabase } from './versioned-table.ts'

/** How documents of a kind are changed. */
export type DocumentRules<Row extends NamedRow, Spec, Db extends AnyDatabase> = {
  table: NamedTable<Row>
  /** Noun of several documents, such as `incident rules`. */
  title: string
  /** Maximum documents of a project. */
  documents_max: number
  /** Whether a resource of a cluster can declare a document. */
  is_owned: boolean
  /** Whether an author may see and change a document; by default all may. */
  isVisible?: (document: Row, author: string) => boolean
  /**
   * Checks a change further and returns the columns that it sets. Returns undefined for a change
   * that changes nothing, which is not written.
   */
  toColumns: (trx: Db, change: ChangeOf<Row, Spec>) => Promise<WrittenColumns<Row> | undefined>
  /** Runs in the transaction of a deletion. */
  beforeDelete?: (trx: Db, document: Row, at: string) => Promise<void>
}

/** A new document, or the next version of one. */
export type DocumentChange<Spec> = DocumentKey & {
  spec: Spec
  managed_by: ManagedBy | null
  at: string
  by: string
}

/** A change with the document before it; undefined for a new one. */
export type ChangeOf<Row, Spec> = DocumentChange<Spec> & {
  before: Row | undefined
  /** Version that the change writes. */
  version: number
}

type WrittenColumns<Row> = {
  columns: Partial<Row>
  /** Chooses the document that has the name, which no two documents may have. */
  unique?: DocumentFilter & { name: string }
  /** Fields that only the reply to the change shows. */
  shown_once?: object | undefined
}

/** A document after a change, and fields that only the reply to the change shows. */
export type WrittenDocument<Row> = {
  document: Row
  is_new: boolean
  shown_once?: object | undefined
}

/** Who deletes a document. With `retain` only its declaration is removed. */
export type Deletion = DocumentKey & {
  headers: RequestHeaders
  owner: ResourceName | null
  by: string
  at: string
  is_operator: boolean
  retain: boolean
}

/** Changes documents of a kind, each change in a transaction. */
export class DocumentWriter<Row extends NamedRow, Spec, Db extends AnyDatabase> {
  readonly #db: Db
  readonly #rules: DocumentRules<Row, Spec, Db>
  readonly #table: NamedTable<Row>

  constructor(db: Db, rules: DocumentRules<Row, Spec, Db>) {
    this.#db = db
    this.#rules = rules
    this.#table = rules.table
  }

  /**
   * Creates a document, or returns the one that the same resource declares. Throws `name_taken` and
   * `limit_reached`.
   */
  create(change: DocumentChange<Spec>): Promise<WrittenDocument<Row>> {
    const { project_id, managed_by } = change
    return this.#table.change(this.#db, project_id, async (trx) => {
      const declared = managed_by && (await this.#table.findBy(trx, project_id, { managed_by }))
      return declared ? { document: declared, is_new: false } : this.#insert(trx, change)
    })
  }

  /**
   * Replaces a document, in the version of If-Match. Throws `managed_by_kubernetes`,
   * `precondition_failed` and `name_taken`. An id that no document has is an error, or creates a
   * document if authors choose ids, which can throw `limit_reached`.
   */
  replace({
    headers,
    ...change
  }: DocumentChange<Spec> & { headers: RequestHeaders }): Promise<WrittenDocument<Row>> {
    const { project_id, managed_by } = change
    return this.#table.change(this.#db, project_id, async (trx) => {
      const before = await this.#find(trx, change)
      if (!before && !this.#table.options.chosen_id) throw this.#table.notFound(change.id)
      refuseUnlessOwner(before?.managed_by ?? null, managed_by)
      assertVersion(headers, before?.version ?? 0)
      if (before === undefined) return this.#insert(trx, change)
      const written = await this.#toColumns(trx, { ...change, before, version: before.version + 1 })
      if (written === undefined) return this.#keep(trx, before, managed_by)
      const document = await this.#table.replace(trx, change, written.columns)
      return { document, is_new: false, shown_once: written.shown_once }
    })
  }

  /**
   * Deletes a document, in the version of If-Match. Throws `managed_by_kubernetes`,
   * `permission_denied` and `precondition_failed`, and the error for an id that no document has.
   */
  delete(deletion: Deletion): Promise<void> {
    const { headers, owner, is_operator, retain, at } = deletion
    return this.#table.change(this.#db, deletion.project_id, async (trx) => {
      const before = await this.#find(trx, deletion)
      if (!before) throw this.#table.notFound(deletion.id)
      refuseUnlessOwner(before.managed_by ?? null, owner)
      assertVersion(headers, before.version)
      if (is_operator && before.managed_by == null) {
        const detail = `No resource declares this ${this.#table.options.noun}, so an operator cannot delete it.`
        throw problem('permission_denied', { detail })
      }
      if (retain) return this.#table.setOwner(trx, deletion, null)
      await this.#rules.beforeDelete?.(trx, before, at)
      return this.#table.delete(trx, deletion)
    })
  }

  async #insert(trx: Db, change: DocumentChange<Spec>): Promise<WrittenDocument<Row>> {
    const { documents_max, title } = this.#rules
    const { project_id, id, at: created_at } = change
    const version = await this.#table.firstVersion(trx, change)
    const written = await this.#toColumns(trx, { ...change, before: undefined, version })
    if ((await this.#table.count(trx, project_id, documents_max)) >= documents_max) {
      throw problem('limit_reached', {
        detail: `The project has ${documents_max} ${title}, the maximum. Delete some first.`,
      })
    }
    const columns: Partial<Row> = written?.columns ?? {}
    const row = { ...columns, project_id, id, version, created_at }
    const document = await this.#table.insert(trx, row)
    return { document, is_new: true, shown_once: written?.shown_once }
  }

  /** Keeps the version of a document. Its owner may be another now. */
  async #keep(trx: Db, before: Row, managed_by: ManagedBy | null): Promise<WrittenDocument<Row>> {
    const isAdopted =
      this.#rules.is_owned && canonicalJson(before.managed_by) !== canonicalJson(managed_by)
    if (!isAdopted) return { document: before, is_new: false }
    await this.#table.setOwner(trx, before, managed_by)
    return { document: { ...before, managed_by }, is_new: false }
  }

  /** Finds and locks a document that an author may see. */
  async #find(trx: Db, { by, ...key }: DocumentKey & { by: string }): Promise<Row | undefined> {
    const document = await this.#table.lock(trx, key)
    return document && this.#rules.isVisible?.(document, by) === false ? undefined : document
  }

  /** Returns all columns of a change. Throws `name_taken` if another document has the name. */
  async #toColumns(trx: Db, change: ChangeOf<Row, Spec>): Promise<WrittenColumns<Row> | undefined> {
    const written = await this.#rules.toColumns(trx, change)
    if (written === undefined) return undefined
    const { noun, versions } = this.#table.options
    const { project_id, id, managed_by, at, by, version } = change
    if (versions !== undefined && version > versions.versions_max) {
      throw problem('limit_reached', {
        detail: `The ${noun} has ${versions.versions_max} versions, the maximum. Create a ${noun} with another id.`,
      })
    }
    const { unique } = written
    const other = unique && (await this.#table.findBy(trx, project_id, unique))
    if (other && other.id !== id) {
      throw nameTaken({ noun, name: unique.name }, other.managed_by, managed_by)
    }
    const owner = this.#rules.is_owned && { managed_by }
    return {
      ...written,
      columns: { ...written.columns, ...owner, updated_at: at, updated_by: by },
    }
  }
}

/** A namespace learns only the names of its own resources. */
function nameTaken(
  { noun, name }: { noun: string; name: string },
  owner: ManagedBy | null | undefined,
  by: ManagedBy | null,
): Problem {
  const whose =
    owner == null || owner.namespace !== by?.namespace
      ? `another ${noun} of the project`
      : `the ${noun} of ${owner.kind} ${owner.namespace}/${owner.name}`
  return problem('name_taken', {
    detail: `name: got ${JSON.stringify(name.slice(0, 80))}, the name of ${whose}`,
    faults: [{ pointer: '/name', detail: 'already in use' }],
  })
}
